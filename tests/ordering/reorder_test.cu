// Writes that arrive in any order (SOFTNIC_FAULTS=reorder): these operations are ordered all the
// same. Messages lie in the heap, where the NIC reads them itself.
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

// Each message has a separate signal: no receiver waits in vain, even where the sender takes the
// writes for ordered.
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

// The request contains the end of the message.
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

// Puts that end with their request, as small ones do: only the signal's fence orders them.
void send_on_stream(Pe& pe, Box* box, const Word* source, chimex_stream_t stream) {
  constexpr unsigned kSmall = 3;
  static_assert(kMessageWords % kSmall == 0);
  for (int round = 1; round <= kLitmusRounds; ++round) {
    for (unsigned i = 0; i < kMessageWords; i += kSmall)
      chimex_putmem_on_stream(box->messages[round - 1] + i,
                              source + (round - 1) * kMessageWords + i, kSmall * sizeof(Word),
                              pe.next(), stream);
    chimex_signal_op_on_stream(&box->signal, Word(round), CHIME_SIGNAL_SET, pe.next(), stream);
  }
}

CHIME_KERNEL void await_messages(CHIME_GRID_CONSTANT const Context context, Box* box,
                                 const Word* expected, unsigned* wrong) {
  for (int round = 1; round <= kLitmusRounds; ++round) {
    AwaitSignal::await(context, Thread{}, box, round, 0);
    check_message(Thread{}, box, expected, round, wrong);
  }
}

IN_EVERY_WORLD(OnStream, PutsAreVisibleBeforeTheSignalBehindThem) {
  world.spawn(1, [](Pe& pe) {
    exec::Stream stream = {};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    Symmetric<Box> box(1);
    const SymmetricSource source(messages_of(pe.rank()));
    const Private<Word> expected(messages_of(pe.previous()));
    Private<unsigned> wrong(1);
    for_each_seed(pe, [&](int) {
      box.fill(0);
      wrong.write(std::vector<unsigned>{0});
      pe.barrier();
      send_on_stream(pe, box.data(), source.words.data(), stream);
      pe.run(1, 1, await_messages, pe.context(), box.data(),
             static_cast<const Word*>(expected.data()), wrong.data());
      EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
      EXPECT_EQ(0u, wrong.read()[0]) << "words of the message were not there";
    });
    EXPECT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
  });
}

// The flag of a round has one writer and never goes back: if an announcement arrived after the next
// one, its receiver would wait for ever.
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
