#include "chime/device/simt/threads/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "chime/abi/resource_limits.h"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/launch/options.hpp"

namespace chime::simt {

namespace {

// The lowest stack is never used: a frame that oversteps a guard page at once lands in memory of
// the slab, and is found at the next guard, or at the next check of the stack pointer.
constexpr std::size_t kStacksPerSlab = 33;
constexpr std::uint64_t kCanary = 0x43'48'49'4d'45'ca'11'ab;

std::uint64_t* canary(StackSpan stack) { return reinterpret_cast<std::uint64_t*>(stack.low); }

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Makes a page that cannot be touched. Linux 6.13 and newer mark it in the page table. Older ones
// split a mapping in two, so only some thousands are made, far below the usual limit of 65530.
void guard(std::byte* page) {
  constexpr int kMadvGuardInstall = 102;  // <linux/mman.h> of Debian 12 does not have it
  constexpr int kMostSplits = 16'000;
  static std::atomic<int> splits{0};
  if (madvise(page, page_bytes(), kMadvGuardInstall) == 0) return;
  if (splits.fetch_add(1, std::memory_order_relaxed) < kMostSplits)
    mprotect(page, page_bytes(), PROT_NONE);
}

}  // namespace

bool StackPool::canary_lives(StackSpan stack) { return *canary(stack) == kCanary; }

bool StackPool::is_guard(const void* address) const {
  const std::size_t page = page_bytes();
  const auto* at = static_cast<const std::byte*>(address);
  for (const StackSpan& slab : slabs_) {
    if (at < slab.low || at >= slab.low + slab.bytes) continue;
    const std::size_t stride = (slab.bytes - page) / kStacksPerSlab;
    return static_cast<std::size_t>(at - slab.low) % stride < page;
  }
  return false;
}

void StackPool::add_slab() {
  const std::size_t page = page_bytes();
  const std::size_t stack = (options().stack_bytes + page - 1) / page * page;
  // Stacks a power of two apart would share few sets of the second-level cache: 1024 threads would
  // not fit.
  const std::size_t stride = stack + page;
  const std::size_t bytes = page + kStacksPerSlab * stride;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    const std::string why = abi::why_no_memory(bytes, true);
    fatal(
        "no memory for %zu stacks of %zu KiB%s%s: lower CHIME_SIMT_STACK_KB or CHIME_SIMT_RESIDENT",
        kStacksPerSlab, stack / 1024, why.empty() ? "" : ", because ", why.c_str());
  }
  std::byte* low = static_cast<std::byte*>(memory);
  slabs_.push_back({low, bytes});
  for (std::size_t i = kStacksPerSlab - 1; i > 0; --i) {
    const StackSpan span{low + page + i * stride, stack};
    guard(span.low - page);
    *canary(span) = kCanary;
    fresh_.push_back(span);
  }
}

// To the sanitizers the last owner's frames are foreign memory. TSan forgets the history of memory
// that is mapped anew.
void StackPool::forget_history(StackSpan stack) {
  asan_forget(stack.low, stack.bytes);
  if (!kTsan) return;
  if (mmap(stack.low, stack.bytes, PROT_READ | PROT_WRITE,
           MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
    fatal("no memory to map a stack anew");
  }
  *canary(stack) = kCanary;
}

StackSpan StackPool::get() {
  const TsanIgnores ignores;
  if (!free_.empty()) {
    const StackSpan stack = free_.back();
    free_.pop_back();
    forget_history(stack);
    return stack;
  }
  if (fresh_.empty()) add_slab();
  const StackSpan stack = fresh_.back();
  fresh_.pop_back();
  return stack;
}

void StackPool::put_after_switch(StackSpan stack) {
  const TsanIgnores ignores;
  if (leaving_.low) free_.push_back(leaving_);
  leaving_ = stack;
}

void StackPool::release_memory() {
  for (const StackSpan& slab : slabs_) munmap(slab.low, slab.bytes);
  slabs_.clear();
  fresh_.clear();
  free_.clear();
  leaving_ = {};
}

}  // namespace chime::simt
