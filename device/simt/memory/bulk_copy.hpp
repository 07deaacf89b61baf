// The bulk copies of one block that no thread has waited for yet.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace chime::simt {

struct BulkCopy {
  void* dst;
  const void* src;
  unsigned bytes;
};

// Copies that count on one mbarrier in its current phase.
struct PendingPhase {
  std::uint64_t expected_bytes = 0, started_bytes = 0;
  std::vector<BulkCopy> copies;
};

// Copies of one thread from shared memory: its open group, and those it has closed, oldest first.
struct ThreadCopies {
  std::vector<BulkCopy> open;
  std::deque<std::vector<BulkCopy>> closed;
};

struct BulkCopies {
  std::unordered_map<const void*, PendingPhase> by_barrier;
  std::unordered_map<unsigned, ThreadCopies> by_thread;

  static void perform(std::vector<BulkCopy>& list);
};

}  // namespace chime::simt
