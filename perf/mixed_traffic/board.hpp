// The memory that senders, readers and main share, and what a message holds.
//
// A source sends messages in batches. Message `number` goes to the slot `number % kRing` of its
// target: data, and a signal that is set to the number. Each message also adds one to the source's
// sum. After a fence the source sets the word `fenced` to the number of the batch. The reader
// returns a batch's room by adding one to `acked`, so a slot is not used before it was read.
#pragma once

#include <chime/chime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace chime::perf {

inline constexpr unsigned kMostBlocks = 8, kMostSources = kMostBlocks + 1;  // the host is the last
inline constexpr std::size_t kDataWords = 8, kPageWords = 64, kPages = 8;
inline constexpr std::uint64_t kBatch = 16, kWindow = 64, kRing = kBatch * kWindow;  // messages
inline constexpr std::uint64_t kLeastTurns = 8;
inline constexpr std::uint64_t kGiveUp_ns = 60'000'000'000;  // a wait for another PE

// Planted in the program's own senders. The first seven are faults of what arrives.
enum class Fault {
  kNone,
  kLose,         // a message is not sent
  kTwice,        // a message is sent again
  kTear,         // a message has a wrong word
  kEarly,        // a signal is sent before its data
  kSwap,         // the word behind a fence is sent before the messages ahead of it
  kMisread,      // a page that peers get has a wrong word
  kMiscount,     // the probe adds twice
  kSlowBlock,    // a block of several sleeps
  kSlowKernel,   // all blocks sleep while the host sends
  kSlowHost,     // the host sleeps while the kernel sends
  kStallKernel,  // the probe sleeps once, for long
  kStallHost,    // so does the host
};

// The others are planted once in a try.
CHIME_HOST_DEVICE bool is_of_each_round(Fault fault) {
  return fault == Fault::kSlowBlock || fault == Fault::kSlowKernel || fault == Fault::kSlowHost;
}

// The data of a message: each word differs from that of any other message.
CHIME_HOST_DEVICE std::uint64_t payload(int pe, unsigned source, std::uint64_t number,
                                        std::size_t word) {
  const std::uint64_t x =
      (number << 24 | static_cast<std::uint64_t>(pe) << 12 | source << 6 | word) *
      0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}
CHIME_HOST_DEVICE std::uint64_t page_word(int pe, std::size_t word) {
  return payload(pe, kMostSources, 0, word);
}

// Symmetric words: for each source, what its target reads, and what comes back to the source.
class Board {
 public:
  static constexpr std::size_t kLine = 8;  // words between words of different writers

  explicit Board(std::uint64_t* words) : words_(words) {}
  static constexpr std::size_t words() { return kOutbox + kMostSources * kRing * kDataWords; }

  // Written by the source, read by its target.
  CHIME_HOST_DEVICE std::uint64_t* fenced(unsigned source) const { return line(source); }
  CHIME_HOST_DEVICE std::uint64_t* sum(unsigned source) const {
    return line(kMostSources + source);
  }
  CHIME_HOST_DEVICE std::uint64_t* end(unsigned source) const {
    return line(2 * kMostSources + source);
  }
  CHIME_HOST_DEVICE std::uint64_t* signal(unsigned source, std::uint64_t number) const {
    return words_ + kSignals + source * kRing + number % kRing;
  }
  CHIME_HOST_DEVICE std::uint64_t* data(unsigned source, std::uint64_t number) const {
    return words_ + kInbox + (source * kRing + number % kRing) * kDataWords;
  }
  // Written by the target, read by the source.
  CHIME_HOST_DEVICE std::uint64_t* acked(unsigned source) const {
    return line(3 * kMostSources + source);
  }
  CHIME_HOST_DEVICE std::uint64_t* noticed(unsigned source) const {  // faults
    return line(4 * kMostSources + source);
  }
  CHIME_HOST_DEVICE std::uint64_t* probed() const { return line(5 * kMostSources); }
  // What peers get, and room for what this PE gets.
  CHIME_HOST_DEVICE std::uint64_t* page() const { return words_ + kPage; }
  CHIME_HOST_DEVICE std::uint64_t* got(std::size_t page) const {
    return words_ + kPage + (1 + page) * kPageWords;
  }
  // A source's own copy of a message's data.
  CHIME_HOST_DEVICE std::uint64_t* outbox(unsigned source, std::uint64_t number) const {
    return words_ + kOutbox + (source * kRing + number % kRing) * kDataWords;
  }

 private:
  static constexpr std::size_t kPage = (5 * kMostSources + 1) * kLine;
  static constexpr std::size_t kSignals = kPage + (1 + kPages) * kPageWords;
  static constexpr std::size_t kInbox = kSignals + kMostSources * kRing;
  static constexpr std::size_t kOutbox = kInbox + kMostSources * kRing * kDataWords;

  CHIME_HOST_DEVICE std::uint64_t* line(std::size_t number) const {
    return words_ + number * kLine;
  }

  std::uint64_t* words_;
};

// A time in which the same sources send.
struct Phase {
  std::uint64_t ns, ns_of_try;  // the latter: of all phases of a try in which both send
  std::uint64_t mark;           // from 1, of each phase another
  unsigned blocks;              // that send messages
  bool kernel_sends, host_sends;
  Fault fault;
  std::uint64_t seed;

  // The turn, from 1, and the message of its batch that the fault hits.
  CHIME_HOST_DEVICE std::uint64_t hit_turn() const { return 2 + seed % (kLeastTurns - 3); }
  CHIME_HOST_DEVICE std::uint64_t hit_message() const { return seed / 7 % kBatch; }
  // A source takes at least so many turns, so a fault is planted on the slowest machine, too.
  CHIME_HOST_DEVICE std::uint64_t least_turns() const {
    return is_of_each_round(fault) ? 2 : kLeastTurns;
  }
  CHIME_HOST_DEVICE std::uint64_t short_sleep_ns() const { return ns / 2; }
  CHIME_HOST_DEVICE std::uint64_t long_sleep_ns() const { return ns_of_try * 2 / 5; }
};

// The last word of a source in a phase.
CHIME_HOST_DEVICE std::uint64_t end_word(std::uint64_t mark, std::uint64_t sent) {
  return mark << 48 | sent;
}

// What one sender did.
struct Progress {
  std::uint64_t done, longest_ns, ns;

  void add(const Progress& later) {
    done += later.done;
    ns += later.ns;
    if (later.longest_ns > longest_ns) longest_ns = later.longest_ns;
  }
};

// Fills a Progress.
class Stopwatch {
 public:
  CHIME_HOST_DEVICE Stopwatch(Progress& progress, std::uint64_t start_ns)
      : progress_(progress), start_ns_(start_ns), last_ns_(start_ns) {
    progress = {};
  }
  CHIME_HOST_DEVICE void note(std::uint64_t done, std::uint64_t now_ns) {
    if (now_ns > last_ns_ && now_ns - last_ns_ > progress_.longest_ns)
      progress_.longest_ns = now_ns - last_ns_;
    last_ns_ = now_ns;
    progress_.done += done;
    progress_.ns = now_ns - start_ns_;
  }

 private:
  Progress& progress_;
  const std::uint64_t start_ns_;
  std::uint64_t last_ns_;
};

inline std::uint64_t host_now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// What the reader of one source knows.
struct Incoming {
  std::uint64_t read;     // messages, up to this number
  std::uint64_t present;  // those that came
  std::uint64_t flagged;  // the last message that was not there behind its fence
  std::uint64_t missing, unwhole, late;
  std::uint64_t sum;  // the source's additions, at the end of a phase
};

// What one PE's kernels know. It lies in the device's memory, and stays from phase to phase.
struct State {
  std::uint64_t start_ns;
  std::uint64_t sent[kMostSources];
  std::uint64_t probes;
  Progress floods[kMostBlocks], gets, probe;
  Incoming incoming[kMostSources];
  std::uint64_t wrong_gets, miscounts;
  std::uint64_t given_up;  // waits that had no end
};

}  // namespace chime::perf
