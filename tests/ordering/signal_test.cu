// Data before signal: a reader that sees the signal sees the data.
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

struct ByPutSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_signal(context, group, box->messages[round - 1], source, kMessageWords,
               SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

struct ByPutSignalAdd : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_signal_nbi(context, group, box->messages[round - 1], source, kMessageWords,
                   SignalUpdate{&box->signal, 1, SignalOp::kAdd}, next);
  }
};

// Bytes at odd addresses: no store is as wide as a word.
struct ByPutmemSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    auto* const target = reinterpret_cast<char*>(box->messages[round - 1]);
    auto* const from = reinterpret_cast<const char*>(source);
    putmem_nbi(context, group, target, from, 3, next);
    fence(context);  // by every member, for its own bytes
    putmem_signal(context, group, target + 3, from + 3, kMessageWords * sizeof(Word) - 3,
                  SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

// Puts of every member, a barrier of the group, then one thread's fence and signal.
struct ByPutsThenFenceAndSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
      p(context, &box->messages[round - 1][i], source[i], next);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    signal_op(context, SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

// The sender stores to its own memory, fences and signals; the receiver gets.
struct GetAfterSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    Word* const own = box->messages[round - 1];  // of this PE
    for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
      exec::st(own + i, source[i]);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    signal_op(context, SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

template <class Group>
CHIME_KERNEL void get_after_signal(CHIME_GRID_CONSTANT const Context context, Box* box,
                                   const Word* source, const Word* expected, unsigned* wrong,
                                   int next, int previous) {
  Group group{};
  for (int round = 1; round <= kLitmusRounds; ++round) {
    if (exec::block_rank() == 0) {
      GetAfterSignal::send(context, group, box, source + (round - 1) * kMessageWords, round, next);
      continue;
    }
    signal_wait_until(context, group, &box->signal, Cmp::kGe, Word(round));
    for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
      if (g(context, &box->messages[round - 1][i], previous) !=
          expected[(round - 1) * kMessageWords + i])
        exec::atomic_add(wrong, 1u);
  }
}

IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<ByPutSignal>(pe); });
}

IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeAnAddedSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<ByPutSignalAdd>(pe); });
}

IN_EVERY_WORLD(PutSignal, BytesAreVisibleBeforeSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<ByPutmemSignal>(pe); });
}

IN_EVERY_WORLD(Fence, OrdersPutsOfTheGroupBeforeOneSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<ByPutsThenFenceAndSignal>(pe); });
}

IN_EVERY_WORLD(Signal, GetSeesWhatTheSenderStored) {
  world.spawn(1, [](Pe& pe) {
    count_missing(pe, get_after_signal<Thread>, 2, kGroupThreads<Thread>, false);
    count_missing(pe, get_after_signal<Warp>, 2, kGroupThreads<Warp>, false);
    count_missing(pe, get_after_signal<Block>, 2, kGroupThreads<Block>, false);
  });
}

}  // namespace
}  // namespace chime::tests
