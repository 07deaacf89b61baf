// Many blocks put; the grid meets; one thread publishes for all of them (design: one ordering
// domain per PE).
#include "chime/device/amo.cuh"
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

constexpr unsigned kSenders = 3;  // blocks that put; one more receives

enum class Publish { kFenceSignal, kFencePut, kQuietAtomic, kBarrierPut };

// Every thread of the sending blocks puts its share of the round's message.
CHIME_DEVICE void put_share(const Context& context, Box* box, const Word* source, int round,
                            int next) {
  const unsigned threads = kSenders * exec::block_threads();
  const unsigned rank = unsigned(exec::block_rank()) * exec::block_threads() + exec::thread_rank();
  for (unsigned i = rank; i < kMessageWords; i += threads)
    p(context, &box->messages[round - 1][i], source[(round - 1) * kMessageWords + i], next);
}

template <Publish kHow>
CHIME_DEVICE void publish(const Context& context, Box* box, int round, int next) {
  if constexpr (kHow == Publish::kFenceSignal) {
    fence(context);
    signal_op(context, SignalUpdate{&box->flag, Word(round), SignalOp::kSet}, next);
  } else if constexpr (kHow == Publish::kFencePut) {
    fence(context);
    p(context, &box->flag, Word(round), next);
  } else if constexpr (kHow == Publish::kQuietAtomic) {
    quiet(context);
    atomic_inc(context, &box->flag, next);
  } else {
    barrier_all(context, Thread{});
    p(context, &box->flag, Word(round), next);
  }
}

template <Publish kHow>
CHIME_KERNEL void blocks_put_one_publishes(CHIME_GRID_CONSTANT const Context context, Box* box,
                                           const Word* source, const Word* expected,
                                           unsigned* wrong, int next, int) {
  for (int round = 1; round <= kLitmusRounds; ++round) {
    const bool sends = exec::block_rank() < kSenders;
    if (sends) put_share(context, box, source, round, next);
    exec::sync_grid();
    if (exec::block_rank() == kSenders - 1 && exec::thread_rank() == 0)
      publish<kHow>(context, box, round, next);
    if (sends) continue;
    if (exec::thread_rank() == 0) wait_until(context, &box->flag, Cmp::kGe, Word(round));
    exec::sync_block();
    check_message(Block{}, box, expected, round, wrong);
  }
}

template <Publish kHow>
void expect_published(Pe& pe) {
  for (unsigned threads : {1u, 8u})
    count_missing(pe, blocks_put_one_publishes<kHow>, kSenders + 1, threads, false);
}

IN_EVERY_WORLD(GridSync, ThenOneFenceAndSignalPublishForAllBlocks) {
  world.spawn(1, [](Pe& pe) { expect_published<Publish::kFenceSignal>(pe); });
}

IN_EVERY_WORLD(GridSync, ThenOneFenceAndPutPublishForAllBlocks) {
  world.spawn(1, [](Pe& pe) { expect_published<Publish::kFencePut>(pe); });
}

IN_EVERY_WORLD(GridSync, ThenOneQuietAndAtomicPublishForAllBlocks) {
  world.spawn(1, [](Pe& pe) { expect_published<Publish::kQuietAtomic>(pe); });
}

// barrier_all implies quiet for all operations that happen before it, also of other blocks.
IN_EVERY_WORLD(Barrier, CompletesThePutsOfAllBlocks) {
  world.spawn(1, [](Pe& pe) { expect_published<Publish::kBarrierPut>(pe); });
}

}  // namespace
}  // namespace chime::tests
