// Weak mode works: without a fence, it must show the flag before the puts under some seed.
// Otherwise the other facts of this folder prove nothing.
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

struct PutPut {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
      p(context, &box->messages[round - 1][i], source[i], next);
    group.sync();
    if (group.is_leader()) p(context, &box->flag, Word(round), next);
  }
  template <class Group>
  CHIME_DEVICE static void await(const Context& context, Group group, Box* box, int round, int) {
    if (group.is_leader()) wait_until(context, &box->flag, Cmp::kGe, Word(round));
    group.sync();
  }
};

IN_EVERY_WORLD(WeakMemory, ShowsTheFlagBeforeThePutsUnderSomeSeed) {
  if (!world.has_seeded_schedules()) GTEST_SKIP() << "a GPU may or may not reorder";
  if (!world.maps_all()) GTEST_SKIP() << "a queue pair carries puts in their order";
  world.spawn(1, [](Pe& pe) {
    EXPECT_LT(0u, count_missing(pe, litmus<PutPut, Thread>, 2, kGroupThreads<Thread>, true));
    EXPECT_LT(0u, count_missing(pe, litmus<PutPut, Block>, 2, kGroupThreads<Block>, true));
  });
}

}  // namespace
}  // namespace chime::tests
