// Gives out ranges of the symmetric heap, by offset. Deterministic: the same calls give the same
// offsets, so PEs that make the same calls agree on every address without telling each other.
//
// Address-ordered first fit; neighbours that become free are joined at once. All bookkeeping is
// outside the heap, so a kernel that writes past its array damages data, never the allocator.
// Invariants: free and used ranges tile [first, end) without overlap; no two free ranges touch;
// every start and size is a multiple of kGranule. Not thread-safe: callers serialise (collective
// calls are serial anyway).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace chime::host {

class Allocator {
 public:
  static constexpr std::size_t kGranule = 16;

  // Manages [first, end); both multiples of kGranule.
  Allocator(std::size_t first, std::size_t end);

  // The lowest offset that is a multiple of `alignment` (a power of two) and has `bytes` (> 0) free
  // behind it. Empty when there is none; nothing has changed then.
  std::optional<std::size_t> allocate(std::size_t bytes, std::size_t alignment);

  enum class Freed { kYes, kNotAnAllocation, kTwice };
  // Gives the allocation that starts at `offset` back. kTwice: it was one, and nothing reused its
  // start since.
  Freed free(std::size_t offset);
  // The result that free() would have.
  Freed may_free(std::size_t offset) const;
  // Undoes the allocation that starts at `offset`, as if it had not been made. REQUIRES: it is the
  // last that was made.
  void take_back(std::size_t offset);

  // Size of the allocation that starts at `offset`, as rounded up to kGranule; empty if none does.
  std::optional<std::size_t> size_of(std::size_t offset) const;

  struct Allocation {
    std::size_t start;
    std::size_t bytes;     // as asked for
    std::uint64_t number;  // 1 for the first that was made, counting those that are freed
  };
  // The one that has the byte at `offset`, or the rest of its last granule; empty if none has.
  std::optional<Allocation> at(std::size_t offset) const;
  // The last that starts at or before `offset`, whether or not it has that byte.
  std::optional<Allocation> last_before(std::size_t offset) const;
  // The latest that had the byte at `offset` before it was freed; empty if another has it now.
  std::optional<Allocation> freed_at(std::size_t offset) const;
  // Calls body(const Allocation&) for each, in order of their start.
  template <class Body>
  void for_each(Body body) const {
    for (const auto& [start, used] : used_) body(Allocation{start, used.asked, used.number});
  }

  std::size_t free_bytes() const { return free_bytes_; }
  std::size_t largest_free_block() const;
  std::size_t allocations() const { return used_.size(); }

 private:
  using Ranges = std::map<std::size_t, std::size_t>;  // start -> size

  struct Used {
    std::size_t size;   // a multiple of kGranule
    std::size_t asked;  // bytes
    std::uint64_t number;
  };

  // The rest of a freed allocation, where no later one was freed: one of several disjoint pieces.
  struct FreedPiece {
    std::size_t end;
    Allocation of;
  };

  void take(Ranges::iterator block, std::size_t start, std::size_t bytes, std::size_t asked);
  void give_back(std::size_t offset);
  void add_free(std::size_t start, std::size_t bytes);
  void remember_freed(std::size_t start, const Used& used);

  std::size_t free_bytes_;
  Ranges free_;
  std::map<std::size_t, Used> used_;         // by start
  std::uint64_t made_ = 0;                   // allocations, those that are freed among them
  std::map<std::size_t, FreedPiece> freed_;  // by start; only to tell of what is used when freed
};

}  // namespace chime::host
