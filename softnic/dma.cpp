#include "dma.hpp"

#include <cstring>

#include "gpu_memory.hpp"

namespace softnic {
namespace {

// Under TSan memcpy itself is watched.
void copy(void* to, const void* from, std::size_t bytes) {
#if defined(SOFTNIC_TSAN) && defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  std::memcpy(to, from, bytes);
#endif
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 8 == 0; }

void store_word(std::byte* to, const std::byte* from, int order) {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  if (order == __ATOMIC_RELEASE)
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELAXED);
}

void store_byte(std::byte* to, std::byte value, int order) {
  if (order == __ATOMIC_RELEASE)
    __atomic_store_n(reinterpret_cast<unsigned char*>(to), std::to_integer<unsigned char>(value),
                     __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<unsigned char*>(to), std::to_integer<unsigned char>(value),
                     __ATOMIC_RELAXED);
}

}  // namespace

void dma_read(void* to, const std::byte* from, std::size_t bytes) {
  if (GpuContext* gpu = gpu_of(from)) return gpu_read(*gpu, to, from, bytes);
  copy(to, from, bytes);
}

void dma_write(std::byte* to, const void* from, std::size_t bytes) {
  if (GpuContext* gpu = gpu_of(to)) return gpu_write(*gpu, to, from, bytes);
  const auto* source = static_cast<const std::byte*>(from);
  while (bytes && !is_aligned(to)) {
    --bytes;
    store_byte(to++, *source++, bytes ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
  }
  // Whole words but the last one, in bulk: on x86-64 and aarch64 memcpy of aligned words never
  // tears a word, and the release store after it orders all of it.
  std::size_t words = bytes / 8;
  const std::size_t tail = bytes % 8;
  if (words > 1) {
    copy(to, source, (words - 1) * 8);
    to += (words - 1) * 8;
    source += (words - 1) * 8;
    words = 1;
  }
  if (words) {
    store_word(to, source, tail ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
    to += 8;
    source += 8;
  }
  for (std::size_t i = 0; i < tail; ++i)
    store_byte(to + i, source[i], i + 1 < tail ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
}

std::uint64_t dma_load(const std::byte* from, unsigned bytes) {
  if (GpuContext* gpu = gpu_of(from)) {
    std::uint64_t value = 0;  // little-endian: a short one fills the lower half
    gpu_read(*gpu, &value, from, bytes);
    return value;
  }
  return bytes == 8
             ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_ACQUIRE)
             : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(from), __ATOMIC_ACQUIRE);
}

void dma_store(std::byte* to, std::uint64_t value, unsigned bytes) {
  if (GpuContext* gpu = gpu_of(to)) return gpu_write(*gpu, to, &value, bytes);
  if (bytes == 8)
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), value, __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(to), static_cast<std::uint32_t>(value),
                     __ATOMIC_RELEASE);
}

}  // namespace softnic
