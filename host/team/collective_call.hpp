// What PEs are asked for by a collective host call, and where they differ.
#pragma once

#include <cstdint>
#include <string>

namespace chime::host {

struct CollectiveCall {
  enum class Kind : std::uint64_t { kMalloc = 1, kCalloc, kAlign, kFree, kFinalize, kBarrier };
  Kind kind{};
  std::uint64_t first = 0;   // bytes; for kFree the offset in the heap
  std::uint64_t second = 0;  // alignment

  bool operator==(const CollectiveCall&) const = default;
};

// "chime_malloc(4096)": the call in words.
std::string describe(const CollectiveCall& call);

// What several PEs were asked for: the lowest of them, and the first that differs from it. Plain
// bytes: it travels.
struct CollectiveCalls {
  CollectiveCall call;
  CollectiveCall others_call = {};  // of other_pe
  std::int32_t pe = 0;              // the lowest
  std::int32_t other_pe = -1;       // -1: none differs

  // With those of other PEs, all above this lowest.
  void add(const CollectiveCalls& more);
};

// Throws Error{MISMATCH} that names both PEs and both calls, if they differ.
void check_same(const CollectiveCalls& calls);

// Why calls fail that come after one that has not met.
std::string why_none_succeeds(const std::string& first_failure);

}  // namespace chime::host
