#include "host/memory/allocator.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <limits>

namespace chime::host {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Allocator::Allocator(std::size_t first, std::size_t end) : free_bytes_(end - first) {
  assert(first % kGranule == 0 && end % kGranule == 0 && first < end);
  free_.emplace(first, end - first);
}

std::optional<std::size_t> Allocator::allocate(std::size_t bytes, std::size_t alignment) {
  assert(bytes > 0 && std::has_single_bit(alignment));
  if (bytes > free_bytes_) return std::nullopt;  // also keeps the roundings below from overflowing
  const std::size_t asked = bytes;
  bytes = round_up(bytes, kGranule);
  alignment = std::max(alignment, kGranule);
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    auto [start, size] = *block;
    if (start > std::numeric_limits<std::size_t>::max() - alignment) break;
    std::size_t aligned = round_up(start, alignment);
    std::size_t skipped = aligned - start;
    if (skipped <= size && bytes <= size - skipped) {
      take(block, aligned, bytes, asked);
      return aligned;
    }
  }
  return std::nullopt;
}

Allocator::Freed Allocator::may_free(std::size_t offset) const {
  if (used_.contains(offset)) return Freed::kYes;
  const auto freed = freed_at(offset);
  return freed && freed->start == offset ? Freed::kTwice : Freed::kNotAnAllocation;
}

Allocator::Freed Allocator::free(std::size_t offset) {
  const Freed freed = may_free(offset);
  if (freed != Freed::kYes) return freed;
  remember_freed(offset, used_.find(offset)->second);
  give_back(offset);
  return Freed::kYes;
}

void Allocator::take_back(std::size_t offset) {
  give_back(offset);
  --made_;
}

void Allocator::give_back(std::size_t offset) {
  const auto allocation = used_.find(offset);
  add_free(allocation->first, allocation->second.size);
  used_.erase(allocation);
}

std::optional<Allocator::Allocation> Allocator::at(std::size_t offset) const {
  const auto last = last_before(offset);
  if (!last || offset - last->start >= used_.find(last->start)->second.size) return std::nullopt;
  return last;
}

std::optional<Allocator::Allocation> Allocator::last_before(std::size_t offset) const {
  const auto next = used_.upper_bound(offset);
  if (next == used_.begin()) return std::nullopt;
  const auto& [start, used] = *std::prev(next);
  return Allocation{start, used.asked, used.number};
}

std::optional<Allocator::Allocation> Allocator::freed_at(std::size_t offset) const {
  const auto next = freed_.upper_bound(offset);
  if (next == freed_.begin() || at(offset)) return std::nullopt;
  const FreedPiece& piece = std::prev(next)->second;
  return offset < piece.end ? std::optional(piece.of) : std::nullopt;
}

std::optional<std::size_t> Allocator::size_of(std::size_t offset) const {
  auto allocation = used_.find(offset);
  if (allocation == used_.end()) return std::nullopt;
  return allocation->second.size;
}

std::size_t Allocator::largest_free_block() const {
  std::size_t largest = 0;
  for (const auto& [start, size] : free_) largest = std::max(largest, size);
  return largest;
}

// It replaces what it overlaps of older pieces. Their parts before and behind it stay.
void Allocator::remember_freed(std::size_t start, const Used& used) {
  const std::size_t end = start + used.size;
  auto piece = freed_.upper_bound(start);
  if (piece != freed_.begin() && std::prev(piece)->second.end > start) --piece;
  while (piece != freed_.end() && piece->first < end) {
    const auto [piece_start, old] = *piece;
    piece = freed_.erase(piece);
    if (piece_start < start) freed_.emplace(piece_start, FreedPiece{start, old.of});
    if (old.end > end) freed_.emplace(end, old);
  }
  freed_.emplace(start, FreedPiece{end, {start, used.asked, used.number}});
}

// Turns [start, start + bytes) inside the free `block` into an allocation; what is left on both
// sides stays free.
void Allocator::take(Ranges::iterator block, std::size_t start, std::size_t bytes,
                     std::size_t asked) {
  auto [block_start, block_bytes] = *block;
  std::size_t end = start + bytes;
  std::size_t block_end = block_start + block_bytes;
  free_.erase(block);
  if (start > block_start) free_.emplace(block_start, start - block_start);
  if (block_end > end) free_.emplace(end, block_end - end);
  used_.emplace(start, Used{bytes, asked, ++made_});
  free_bytes_ -= bytes;
}

void Allocator::add_free(std::size_t start, std::size_t bytes) {
  free_bytes_ += bytes;
  auto next = free_.lower_bound(start);
  if (next != free_.end() && start + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      previous->second += bytes;
      return;
    }
  }
  free_.emplace(start, bytes);
}

}  // namespace chime::host
