// Counts of a PE's proxy thread: they show why something is slow. `chime-info --proxy` reads them
// from outside while the job runs (proxy/counts/counts_file.hpp), and the report of a PE has them.
//
// Plain words: the thread alone writes them, anybody reads them, at any moment.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace chime::proxy {

// Written by one thread: an addition is a load and a store, not an atomic operation.
class Count {
 public:
  void add(std::uint64_t more = 1) { set(get() + more); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  void raise_to(std::uint64_t value) {
    if (value > get()) set(value);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// A format: chime-info reads it, of a PE of whatever process.
struct Counts {
  static constexpr std::uint64_t kMagic = 0x3230'7978'6f72'7063;  // "cproxy02": of this layout
  // Sleeps by length: bucket i holds those below kShortestBucket << i that no earlier bucket holds,
  // the last one all others.
  static constexpr std::size_t kBuckets = 8;
  static constexpr std::chrono::nanoseconds kShortestBucket = std::chrono::microseconds(32);

  std::uint64_t magic = kMagic;
  std::int64_t pe = -1;
  Count turns;           // each looks at every FIFO once
  Count longest_gap_ns;  // between two visits of a FIFO: turns, sleeps, and what took its processor
  Count visits;          // that found something
  Count requests;        // taken
  Count most_taken;      // from one FIFO in one visit
  Count under_way;       // requests that are taken and have not ended
  Count most_under_way;
  Count refused;  // how often the fabric had no room
  Count moves;    // to another processor, when its own was crowded
  std::array<Count, kBuckets> sleeps;

  void note_sleep(std::chrono::nanoseconds length);
};

// A sentence or two: "17 requests taken in ...".
std::string words_of(const Counts& counts);

}  // namespace chime::proxy
