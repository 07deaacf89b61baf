// A word in memory that PEs share: threads sleep until it changes, and the thread that changes it
// wakes them.
#pragma once

#include <chrono>
#include <cstdint>

namespace chime::host {

class SharedWord {
 public:
  // Both in shared memory, zero at first; `sleepers` is in no other use.
  SharedWord(std::uint64_t& word, std::uint32_t& sleepers) : word_(word), sleepers_(sleepers) {}

  // Acquire: pairs with the release in replace().
  std::uint64_t load() const;

  // Release. False: it was not `expected`. REQUIRES: the two values differ in their lower halves.
  bool replace(std::uint64_t expected, std::uint64_t desired);

  // Sleeps until the word is not `value` any more; returns after `at_most`, and at times before.
  void sleep_while(std::uint64_t value, std::chrono::nanoseconds at_most) const;

 private:
  std::uint64_t& word_;
  std::uint32_t& sleepers_;  // how many processes are about to sleep, or do
};

}  // namespace chime::host
