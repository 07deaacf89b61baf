#include "chime/device/simt/memory/group_sources.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/threads/block.hpp"

namespace chime::simt {

namespace {

// Only the beginning of a larger source is kept, because each member compares all of it.
constexpr std::size_t kMostBytes = 64 * 1024;

constexpr const char* kWhatToDo =
    "Synchronise the group between, or call the form of the C API, which does.";

std::size_t elements_kept(const Source& source) {
  if (source.bytes >= kMostBytes) return source.count == 0 ? 0 : 1;
  return std::min(source.count, kMostBytes / std::max<std::size_t>(source.bytes, 1));
}
std::size_t bytes_kept(const Source& source) { return std::min(source.bytes, kMostBytes); }

// The source as every member sees it that has met the others: memory, and the stores in their
// pools.
std::vector<std::byte> image_of(const Source& source, unsigned warp, BlockStores& stores) {
  StoreBuffer nothing;
  const std::size_t bytes = bytes_kept(source), count = elements_kept(source);
  std::vector<std::byte> image(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const element = image.data() + i * bytes;
    std::memcpy(element, source.element(i), bytes);
    stores.overlay({warp, nothing}, source.element(i), element, bytes);
  }
  return image;
}

// The same when two looks agree. Between copy and overlay another block's OS thread may write a
// store of the grid's pool to memory; then this store would be missing.
std::vector<std::byte> settled_image_of(const Source& source, unsigned warp, BlockStores& stores) {
  constexpr int kMostLooks = 8;
  std::vector<std::byte> image = image_of(source, warp, stores);
  for (int look = 1; look < kMostLooks; ++look) {
    std::vector<std::byte> again = image_of(source, warp, stores);
    if (again == image) break;
    image = std::move(again);
  }
  return image;
}

// The address of the first byte that differs.
const std::byte* first_change(const Source& source, const std::vector<std::byte>& seen,
                              const std::vector<std::byte>& now) {
  const std::size_t bytes = bytes_kept(source);
  const auto at = static_cast<std::size_t>(
      std::mismatch(seen.begin(), seen.end(), now.begin()).first - seen.begin());
  return source.element(at / bytes) + at % bytes;
}

bool is_in(const Source& source, const Range& store) {
  const auto low = reinterpret_cast<std::uintptr_t>(source.address);
  const std::size_t before =
      store.low > low ? (store.low - low) / std::max<std::size_t>(source.stride, 1) : 0;
  for (std::size_t i = before; i < source.count; ++i) {
    const Range element(source.element(i), source.bytes);
    if (element.low >= store.high) return false;
    if (element.overlaps(store)) return true;
  }
  return false;
}

// A store of `thread` to the source that is visible only to threads that meet it; null if there is
// none.
const void* store_to(const Thread& thread, const Source& source) {
  const void* found = nullptr;
  thread.stores.for_each([&](Range store) {
    if (is_in(source, store)) found = reinterpret_cast<const void*>(store.low);
  });
  return found;
}

[[noreturn]] void report_change(const Thread& self, const Thread& first, const Source& source,
                                const std::byte* changed) {
  const exec::uint3 t = first.thread_idx;
  kernel_fault(self,
               "the source of its group's operation, %p, is not ordered before: the word at %p "
               "(byte %td) was written after thread (%u,%u,%u) had come to the call and before "
               "this one has. %s",
               source.address, static_cast<const void*>(changed),
               changed - static_cast<const std::byte*>(source.address), t.x, t.y, t.z, kWhatToDo);
}

[[noreturn]] void report_store(const Thread& self, const Thread& writer, const Source& source,
                               const void* stored) {
  const exec::uint3 t = writer.thread_idx;
  kernel_fault(
      self,
      "the source of its group's operation, %p, is not ordered before: thread (%u,%u,%u) "
      "has stored to the word at %p (byte %td) and has not met the others since. %s",
      source.address, t.x, t.y, t.z, stored,
      static_cast<const std::byte*>(stored) - static_cast<const std::byte*>(source.address),
      kWhatToDo);
}

}  // namespace

void GroupSources::come(const Thread& self, std::uint64_t number, const Source& source,
                        std::span<const Thread> members, BlockStores& stores) {
  const TsanIgnores ignores;
  for (const Thread& member : members) {
    if (const void* const stored = store_to(member, source)) {
      report_store(self, member, source, stored);
    }
  }
  std::vector<std::byte> now = settled_image_of(source, self.warp, stores);
  while (number >= oldest_ + calls_.size()) calls_.push_back({source, now, &self});
  Call& call = calls_[number - oldest_];
  if (call.source == source && call.seen != now) {
    report_change(self, *call.first, source, first_change(source, call.seen, now));
  }
  ++call.came;
  for (; !calls_.empty() && calls_.front().came == members.size(); ++oldest_) calls_.pop_front();
}

// ---- The groups of a block ----------------------------------------------------------------------

void Block::warp_reads(Thread& self, const Source& source) {
  const std::size_t first = self.warp * 32u;
  const std::size_t lanes = std::min<std::size_t>(32, threads - first);
  warp_sources_[self.warp].come(self, self.warp_calls++, source,
                                std::span(threads_).subspan(first, lanes), stores_);
}

void Block::block_reads(Thread& self, const Source& source) {
  block_sources_.come(self, self.block_calls++, source, std::span(threads_).first(threads),
                      stores_);
}

}  // namespace chime::simt
