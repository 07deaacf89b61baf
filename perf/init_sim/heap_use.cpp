#include "heap_use.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> in_use{0};

// The size as the allocator rounds it.
void* take(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  in_use += malloc_usable_size(memory);
  return memory;
}
void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}
}  // namespace

namespace chime::perf {
std::size_t heap_use() { return in_use; }
}  // namespace chime::perf

void* operator new(std::size_t bytes) { return take(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return take(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
