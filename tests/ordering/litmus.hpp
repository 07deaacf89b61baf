// The frame of the litmus tests: every PE sends to the next in one block and receives from the
// previous in another, under many schedules and with weak memory.
//
// A Case defines how a message is sent and how its arrival is detected:
//   template <class Group> static void send(const Context&, Group, Box* box, const Word* source,
//                                           int round, int next);
//   template <class Group> static void await(const Context&, Group, Box* box, int round, int
//   previous);
// After await() the message of the round must lie in the box.
#pragma once

#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {

using Word = std::uint64_t;

inline constexpr int kLitmusRounds = 3;
inline constexpr unsigned kMessageWords = 21;

// Symmetric memory for messages. Each round has a separate message, so that a sender may be ahead.
struct Box {
  Word messages[kLitmusRounds][kMessageWords];
  Word flag;                    // round number, by put or atomic
  Word signal;                  // round number, by signal
  Word relayed;                 // round number, by a third PE
  Word signals[kLitmusRounds];  // 1, one for each round
};

// In most cases the leader of the receiving group waits, or the group waits for the signal.
struct AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void await(const Context& context, Group group, Box* box, int round, int) {
    if (group.is_leader()) wait_until(context, &box->flag, Cmp::kGe, Word(round));
    group.sync();
  }
};
struct AwaitSignal {
  template <class Group>
  CHIME_DEVICE static void await(const Context& context, Group group, Box* box, int round, int) {
    signal_wait_until(context, group, &box->signal, Cmp::kGe, Word(round));
  }
};

inline Word message_word(int sender, int round, unsigned i) {
  return Word(sender) * 1000000 + Word(round) * 1000 + i + 1;
}

// The messages of all rounds of `sender`, for its source buffer.
inline std::vector<Word> messages_of(int sender) {
  std::vector<Word> words;
  for (int round = 1; round <= kLitmusRounds; ++round)
    for (unsigned i = 0; i < kMessageWords; ++i) words.push_back(message_word(sender, round, i));
  return words;
}

// Counts words of the round's message that are missing; reads by plain loads, as a user does.
template <class Group>
CHIME_DEVICE void check_message(Group group, const Box* box, const Word* expected, int round,
                                unsigned* wrong) {
  for (unsigned i = group.rank(); i < kMessageWords; i += group.size())
    if (box->messages[round - 1][i] != expected[(round - 1) * kMessageWords + i])
      exec::atomic_add(wrong, 1u);
}

template <class Case, class Group>
CHIME_KERNEL void litmus(CHIME_GRID_CONSTANT const Context context, Box* box, const Word* source,
                         const Word* expected, unsigned* wrong, int next, int previous) {
  Group group{};
  for (int round = 1; round <= kLitmusRounds; ++round) {
    if (exec::block_rank() == 0) {
      Case::send(context, group, box, source + (round - 1) * kMessageWords, round, next);
    } else {
      Case::await(context, group, box, round, previous);
      check_message(group, box, expected, round, wrong);
    }
  }
}

template <class Group>
inline constexpr unsigned kGroupThreads = 1;
template <>
inline constexpr unsigned kGroupThreads<Warp> = 32;
template <>
inline constexpr unsigned kGroupThreads<Block> = 40;

// The memory of messages before they are sent. Private memory is not registered with the NIC: it is
// staged, and a put_signal of it waits for its data.
struct PrivateSource {
  explicit PrivateSource(const std::vector<Word>& messages) : words(messages) {}
  Private<Word> words;
};
struct SymmetricSource {
  explicit SymmetricSource(const std::vector<Word>& messages) : words(messages.size()) {
    words.write(messages);
  }
  Symmetric<Word> words;
};

// Runs `kernel` under every seed; returns the sum of missing message words.
template <class Source = PrivateSource, class Kernel>
unsigned count_missing(Pe& pe, Kernel kernel, unsigned blocks, unsigned threads, bool may_miss) {
  Symmetric<Box> box(1);
  const Source source(messages_of(pe.rank()));
  const Private<Word> expected(messages_of(pe.previous()));
  Private<unsigned> wrong(1);
  unsigned missing = 0;
  for_each_seed(pe, [&](int) {
    box.fill(0);
    wrong.write(std::vector<unsigned>{0});
    pe.barrier();
    pe.run_together(blocks, threads, kernel, pe.context(), box.data(),
                    static_cast<const Word*>(source.words.data()),
                    static_cast<const Word*>(expected.data()), wrong.data(), pe.next(),
                    pe.previous());
    missing += wrong.read()[0];
    if (!may_miss) {
      EXPECT_EQ(0u, missing) << "words of the message were not there";
    }
  });
  return missing;
}

template <class Case, class Group, class Source = PrivateSource>
void expect_ordered(Pe& pe) {
  SCOPED_TRACE(std::string("group ") + Crowd<Group>::kName);
  count_missing<Source>(pe, litmus<Case, Group>, 2, kGroupThreads<Group>, false);
}

template <class Case, class Source = PrivateSource>
void expect_ordered_in_every_group(Pe& pe) {
  expect_ordered<Case, Thread, Source>(pe);
  expect_ordered<Case, Warp, Source>(pe);
  expect_ordered<Case, Block, Source>(pe);
}

}  // namespace chime::tests
