// What PEs are asked for by a collective host call, and where they differ.
#pragma once

#include <cstdint>
#include <string>

namespace chime::host {

struct CollectiveCall {
  enum class Kind : std::uint64_t {
    kMalloc = 1,
    kCalloc,
    kAlign,
    kFree,
    kFinalize,
    kBarrier,
    kRegister,
    kUnregister
  };
  // What `first` is where kFree is asked for memory outside the heap.
  static constexpr std::uint64_t kOutside = ~std::uint64_t{0};
  // What is in the place of `place` where a PE has nothing to give.
  static constexpr std::uint64_t kNoRoom = ~std::uint64_t{0};
  static constexpr std::uint64_t kFails = kNoRoom - 1;  // its own error says why

  Kind kind{};
  std::uint64_t first = 0;   // bytes; for kFree and kUnregister the offset in the heap
  std::uint64_t second = 0;  // alignment; for kRegister the flags, for kUnregister the bytes
  std::uint64_t place = 0;   // the offset of the memory that the PE has taken for it; 0: none

  bool operator==(const CollectiveCall&) const = default;

  bool asks_for_the_same(const CollectiveCall& other) const {
    return kind == other.kind && first == other.first && second == other.second;
  }
  bool fails() const { return place >= kFails; }
};

// "chime_malloc(4096)": the call in words.
std::string describe(const CollectiveCall& call);

// Some of a job's PEs: how many, and the lowest of them. Plain bytes: it travels.
class FewPes {
 public:
  FewPes() = default;
  explicit FewPes(int pe) : count_(1), lowest_{pe} {}

  bool empty() const { return count_ <= 0; }
  // REQUIRES: !empty().
  int first() const { return lowest_[0]; }
  // REQUIRES: none of `more` is among them.
  void add(const FewPes& more);

  // "PE 4", "PEs 0-3, 7", "PEs 0-15 and 84 more".
  std::string words() const;

 private:
  static constexpr std::int32_t kMost = 16;
  std::int32_t known() const;

  std::int32_t count_ = 0;
  std::int32_t lowest_[kMost] = {};
};

// What several PEs were asked for: the call of the lowest of them, and the first that differs from
// it. Plain bytes: it travels.
struct CollectiveCalls {
  CollectiveCall call;
  CollectiveCall others_call = {};
  FewPes pes = {};     // that made `call`
  FewPes others = {};  // that made `others_call`; empty: none differs

  // Of one PE.
  static CollectiveCalls of(const CollectiveCall& call, int pe) {
    return {.call = call, .pes = FewPes(pe)};
  }

  // With those of other PEs, all above this lowest.
  void add(const CollectiveCalls& more);

  void add(const CollectiveCall& more_call, const FewPes& more);
};

// Throws an Error that names PEs and both calls, if they differ: MISMATCH; OUT_OF_MEMORY or INVALID
// where all were asked for the same and some fail.
void check_same(const CollectiveCalls& calls);

// Why neither `call` can end nor what others have called.
std::string why_different(const FewPes& in_call, const CollectiveCall& call, const FewPes& others,
                          const std::string& others_call);

// Why calls fail that come after one that has not met.
std::string why_none_succeeds(const std::string& first_failure);

}  // namespace chime::host
