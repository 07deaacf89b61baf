// fence and quiet before a flag: a reader that sees the flag sees the puts before it.
#include "chime/device/amo.cuh"
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

template <class Group>
CHIME_DEVICE void put_words(const Context& context, Group group, Box* box, const Word* source,
                            int round, int next) {
  for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
    p(context, &box->messages[round - 1][i], source[i], next);
}

struct PutFencePut : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_words(context, group, box, source, round, next);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    p(context, &box->flag, Word(round), next);
  }
};

struct PutFenceSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_words(context, group, box, source, round, next);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    signal_op(context, SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

struct PutQuietAtomic : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_nbi(context, group, box->messages[round - 1], source, kMessageWords, next);
    group.sync();
    if (!group.is_leader()) return;
    quiet(context);
    atomic_set(context, &box->flag, Word(round), next);
  }
};

struct PutQuietAtomicAdd : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put(context, group, box->messages[round - 1], source, kMessageWords, next);
    if (!group.is_leader()) return;
    quiet(context);
    atomic_inc(context, &box->flag, next);
  }
};

// Two puts to one word: fence keeps them in order, so the flag never shows the older value after
// it. Where both are stores of one thread (p2p), coherence orders them without the fence: only a
// path that carries puts by other means can fail here.
struct PutFencePutSameWord : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
      p(context, &box->messages[round - 1][i], ~source[i], next);
    fence(context);
    put_words(context, group, box, source, round, next);
    group.sync();
    if (!group.is_leader()) return;
    quiet(context);
    p(context, &box->flag, Word(round), next);
  }
};

IN_EVERY_WORLD(Fence, OrdersTwoPuts) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<PutFencePut>(pe); });
}

IN_EVERY_WORLD(Fence, OrdersElementsBeforeASignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<PutFenceSignal>(pe); });
}

IN_EVERY_WORLD(Fence, KeepsPutsToOneWordInOrder) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<PutFencePutSameWord>(pe); });
}

IN_EVERY_WORLD(Quiet, CompletesPutsBeforeAnAtomicFlag) {
  world.spawn(1, [](Pe& pe) {
    expect_ordered_in_every_group<PutQuietAtomic>(pe);
    expect_ordered_in_every_group<PutQuietAtomicAdd>(pe);
  });
}

// ---- A third PE ---------------------------------------------------------------------------------
// PE p puts to p + 1 and waits in quiet, then signals p - 1, which signals p + 1: the data must be
// there, though another PE stored the word that p + 1 waits for.

template <class Group>
CHIME_KERNEL void relay(CHIME_GRID_CONSTANT const Context context, Box* box, const Word* source,
                        const Word* expected, unsigned* wrong, int next, int previous) {
  Group group{};
  for (int round = 1; round <= kLitmusRounds; ++round) {
    if (exec::block_rank() == 0) {  // the sender
      put(context, group, box->messages[round - 1], source + (round - 1) * kMessageWords,
          kMessageWords, next);
      if (group.is_leader()) {
        quiet(context);
        p(context, &box->flag, Word(round), previous);
      }
      group.sync();
    } else if (exec::block_rank() == 1) {  // the relay: from the PE after to the one after that
      AwaitFlag::await(context, group, box, round, previous);
      if (group.is_leader()) {
        fence(context);
        p(context, &box->relayed, Word(round), (next + 1) % context.pe.n_pes);
      }
      group.sync();
    } else {  // the receiver
      if (group.is_leader()) wait_until(context, &box->relayed, Cmp::kGe, Word(round));
      group.sync();
      check_message(group, box, expected, round, wrong);
    }
  }
}

IN_EVERY_WORLD(Quiet, HoldsForAThirdPe) {
  world.spawn(1, [](Pe& pe) {
    count_missing(pe, relay<Thread>, 3, kGroupThreads<Thread>, false);
    count_missing(pe, relay<Block>, 3, kGroupThreads<Block>, false);
  });
}

}  // namespace
}  // namespace chime::tests
