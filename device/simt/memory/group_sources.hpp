// Weak mode: finds stores of a group's member to a source that other members read without a meeting
// between (weak_memory.md, "Sources of a group").
//
// The members of a group make its calls in one order, so the k-th call of one is the k-th of all.
// The first member that comes keeps the contents of the source; each later one compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace chime::simt {

class BlockStores;
struct Thread;

// `count` elements of `bytes` each, `stride` bytes apart.
struct Source {
  const void* address = nullptr;
  std::size_t bytes = 0, stride = 0, count = 0;

  const std::byte* element(std::size_t i) const {
    return static_cast<const std::byte*>(address) + i * stride;
  }
  bool operator==(const Source&) const = default;
};

// The calls of one group that not all of its members have come to.
class GroupSources {
 public:
  // `self`, one of the `members`, comes to its call number `number`. Ends the process if it finds a
  // word that is not ordered before.
  void come(const Thread& self, std::uint64_t number, const Source& source,
            std::span<const Thread> members, BlockStores& stores);

 private:
  struct Call {
    Source source;
    std::vector<std::byte> seen;    // contents when the first member came
    const Thread* first = nullptr;  // that member
    std::size_t came = 0;
  };
  std::uint64_t oldest_ = 0;  // the number of the first of calls_
  std::deque<Call> calls_;
};

}  // namespace chime::simt
