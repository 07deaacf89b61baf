// Collectives bring data, whatever the order in which a PE's stores become visible: as words, as
// messages behind which a number is stored, and in blocks. Run with little scratch, so that a
// message of 21 words is longer than slots: members that map each other load it where it is, if it
// is symmetric, or it is cut into blocks.
#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/team.cuh"
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

// The largest of what the PEs have sent at i in a round is that of the last one.
CHIME_DEVICE Word largest(int n, int round, unsigned i) {
  return Word(n - 1) * 1000000 + Word(round) * 1000 + i + 1;
}

// `count` words of each PE: those of the previous one are checked.
template <class Group>
CHIME_DEVICE void collect(const Context& context, Group group, Box* box, const Word* source,
                          const Word* expected, unsigned* wrong, int round, unsigned count,
                          int previous) {
  const std::size_t from = std::size_t(round - 1) * kMessageWords;
  Word* const all = box->messages[round - 1];
  fcollectmem(context, group, CHIME_TEAM_WORLD, all, source + from, count * sizeof(Word));
  for (unsigned i = group.rank(); i < count; i += group.size())
    if (all[unsigned(previous) * count + i] != expected[from + i]) exec::atomic_add(wrong, 1u);
}

template <class Group>
CHIME_DEVICE void reduce(const Context& context, Group group, Word* largest_of_all,
                         const Word* source, unsigned* wrong, int round, unsigned count, int n) {
  chime::reduce<Max>(context, group, CHIME_TEAM_WORLD, largest_of_all, source, count);
  for (unsigned i = group.rank(); i < count; i += group.size())
    if (largest_of_all[i] != largest(n, round, i)) exec::atomic_add(wrong, 1u);
}

template <class Group>
CHIME_KERNEL void call_all(CHIME_GRID_CONSTANT const Context context, Box* box, const Word* source,
                           const Word* expected, unsigned* wrong, int, int previous) {
  Group group{};
  const int n = team_n_pes(context, CHIME_TEAM_WORLD);
  const auto most = kMessageWords / static_cast<unsigned>(n);
  collect(context, group, box, source, expected, wrong, 1, 1, previous);
  reduce(context, group, box->signals, source, wrong, 1, 1, n);
  collect(context, group, box, source, expected, wrong, 2, most, previous);
  reduce(context, group, box->signals + 1, source + kMessageWords, wrong, 2, 1, n);
  reduce(context, group, box->messages[2], source + 2 * kMessageWords, wrong, 3, kMessageWords, n);
  reduce(context, group, box->signals + 2, source + 2 * kMessageWords, wrong, 3, 1, n);
}

IN_EVERY_WORLD(Collectives, BringDataInEveryGroup) {
  world.spawn(1, [](Pe& pe) {
    if (pe.size() > int(kMessageWords)) GTEST_SKIP() << "a message has no word for each PE";
    count_missing<SymmetricSource>(pe, call_all<Thread>, 1, kGroupThreads<Thread>, false);
    count_missing<SymmetricSource>(pe, call_all<Warp>, 1, kGroupThreads<Warp>, false);
    count_missing<SymmetricSource>(pe, call_all<Block>, 1, kGroupThreads<Block>, false);
    count_missing<PrivateSource>(pe, call_all<Block>, 1, kGroupThreads<Block>, false);
  });
}

}  // namespace
}  // namespace chime::tests
