// Writes that arrive in any order (SOFTNIC_FAULTS=reorder): what is ordered all the same. Messages
// lie in the heap, where the NIC reads them itself.
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

template <SignalOp kOp>
struct ByPutSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    const Word value = kOp == SignalOp::kAdd ? 1 : Word(round);
    put_signal_nbi(context, group, box->messages[round - 1], source, kMessageWords,
                   SignalUpdate{&box->signal, value, kOp}, next);
  }
};

// Each message has a signal of its own: also who takes the writes for ordered waits for none in
// vain.
struct ByPutSignalOfItsOwn {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_signal_nbi(context, group, box->messages[round - 1], source, kMessageWords,
                   SignalUpdate{&box->signals[round - 1], 1, SignalOp::kSet}, next);
  }
  template <class Group>
  CHIME_DEVICE static void await(const Context& context, Group group, Box* box, int round, int) {
    signal_wait_until(context, group, &box->signals[round - 1], Cmp::kEq, 1);
  }
};

// The end of the message lies in its request.
struct ByFenceAndSmallPutSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    constexpr unsigned kSmall = 3, kRest = kMessageWords - kSmall;
    put_nbi(context, group, box->messages[round - 1], source, kRest, next);
    fence(context);
    put_signal(context, group, box->messages[round - 1] + kRest, source + kRest, kSmall,
               SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

struct ByFenceAndSignal : AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_nbi(context, group, box->messages[round - 1], source, kMessageWords, next);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    signal_op(context, SignalUpdate{&box->signal, Word(round), SignalOp::kSet}, next);
  }
};

struct ByFenceAndPut : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_nbi(context, group, box->messages[round - 1], source, kMessageWords, next);
    group.sync();
    if (!group.is_leader()) return;
    fence(context);
    p(context, &box->flag, Word(round), next);
  }
};

template <class Case>
void expect_ordered_from_the_heap(Pe& pe) {
  expect_ordered_in_every_group<Case, SymmetricSource>(pe);
}

IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByPutSignal<SignalOp::kSet>>(pe); });
}

IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeItsOwnSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByPutSignalOfItsOwn>(pe); });
}

IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeAnAddedSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByPutSignal<SignalOp::kAdd>>(pe); });
}

IN_EVERY_WORLD(PutSignal, SmallDataIsVisibleBeforeSignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByFenceAndSmallPutSignal>(pe); });
}

IN_EVERY_WORLD(Fence, OrdersPutsBeforeASignal) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByFenceAndSignal>(pe); });
}

IN_EVERY_WORLD(Fence, OrdersPutsBeforeAPut) {
  world.spawn(1, [](Pe& pe) { expect_ordered_from_the_heap<ByFenceAndPut>(pe); });
}

// The flag of a round has one writer and never goes back: an announcement that came behind the next
// one would let its receiver wait for ever.
CHIME_KERNEL void meet_often(CHIME_GRID_CONSTANT const Context context, int times) {
  for (int i = 0; i < times; ++i) sync_all(context, Thread{});
}

IN_EVERY_WORLD(SyncAll, IsLeftThoughNothingDrainsBetween) {
  world.spawn(1, [](Pe& pe) {
    for_each_seed(pe, [&](int) {
      pe.barrier();
      pe.run(1, 1, meet_often, pe.context(), 100);
    });
  });
}

}  // namespace
}  // namespace chime::tests
