// No update of a word is lost, by whichever path: updates of threads of the PE that owns the word,
// of PEs that map it, of PEs that reach it by a NIC, and of PEs whose proxy sends requests to the
// owner's.
#include <algorithm>

#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/route.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

constexpr unsigned kBlocks = 2, kThreads = 4;
constexpr int kRounds = 3;

// One word for each kind of update, and one for all of them.
struct Words {
  Word added, signalled, fetched, swapped, all;
  std::uint32_t short_one, padding;
};

CHIME_DEVICE void swap_in_one_more(const Context& context, Word* word, int pe) {
  Word seen = 0, before = 0;
  do {
    seen = before;
    before = atomic_compare_swap(context, word, seen, seen + 1, pe);
  } while (before != seen);
}

CHIME_DEVICE void update(const Context& context, Words* words, int pe) {
  atomic_add(context, &words->added, Word{1}, pe);
  atomic_inc(context, &words->all, pe);
  signal_op(context, SignalUpdate{&words->signalled, 1, SignalOp::kAdd}, pe);
  signal_op(context, SignalUpdate{&words->all, 1, SignalOp::kAdd}, pe);
  atomic_fetch_add(context, &words->fetched, Word{1}, pe);
  atomic_fetch_add(context, &words->all, Word{1}, pe);
  swap_in_one_more(context, &words->swapped, pe);
  atomic_inc(context, &words->short_one, pe);
}

// All PEs at once; each thread updates the words of each PE, its own first.
CHIME_KERNEL void update_everywhere(CHIME_GRID_CONSTANT const Context context, Words* words,
                                    Path* paths) {
  const int n = context.pe.n_pes;
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < n; ++i) update(context, words, (context.pe.my_pe + i) % n);
  quiet(context);
  if (exec::grid_rank() != 0) return;
  for (int pe = 0; pe < n; ++pe) paths[pe] = route_to(context, Traffic::kAtomic, pe).path;
}

// PEs with queue pairs for one peer update their own words by their NIC, and the words of peers
// without a QP set by the proxy.
void expect_updates_by_nic_and_proxy(const Pe& pe, const std::vector<Path>& paths) {
  EXPECT_EQ(paths[static_cast<std::size_t>(pe.rank())], Path::kNic);
  const auto by = [&](Path path) { return std::ranges::count(paths, path); };
  EXPECT_EQ(by(Path::kNic) + by(Path::kProxy), pe.size());
  EXPECT_LE(by(Path::kNic), 2) << "a QP set for itself, and one for a peer";
}

IN_EVERY_WORLD(Updates, NoneIsLostWhateverMakesThem) {
  world.spawn(1, [&](Pe& pe) {
    Symmetric<Words> words(1);
    Private<Path> paths(static_cast<std::size_t>(pe.size()));
    for_each_seed(pe, [&](int) {
      words.fill(0);
      pe.barrier();
      pe.run(kBlocks, kThreads, update_everywhere, pe.context(), words.data(), paths.data());
      pe.barrier();
      const Word each = Word(pe.size()) * kBlocks * kThreads * kRounds;
      const Words seen = words.read(0);
      EXPECT_EQ(seen.added, each) << "by additions";
      EXPECT_EQ(seen.signalled, each) << "by signals";
      EXPECT_EQ(seen.fetched, each) << "by additions that return the word before";
      EXPECT_EQ(seen.swapped, each) << "by compare and swap";
      EXPECT_EQ(seen.all, 3 * each) << "by several kinds of updates";
      EXPECT_EQ(seen.short_one, each) << "of 4 bytes";
      if (world.name().find("few-") != std::string::npos)
        expect_updates_by_nic_and_proxy(pe, paths.read());
      pe.barrier();
    });
  });
}

}  // namespace
}  // namespace chime::tests
