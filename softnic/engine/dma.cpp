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

// The longest aligned word that begins at `to` and ends within `bytes`.
std::size_t word_at(const std::byte* to, std::size_t bytes) {
  std::size_t word = 8;
  while (word > bytes || reinterpret_cast<std::uintptr_t>(to) % word != 0) word /= 2;
  return word;
}

template <class Word>
void store(std::byte* to, const std::byte* from, bool is_last) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if (is_last)
    __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELAXED);
}

void store_word(std::byte* to, const std::byte* from, std::size_t bytes, bool is_last) {
  switch (bytes) {
    case 8:
      return store<std::uint64_t>(to, from, is_last);
    case 4:
      return store<std::uint32_t>(to, from, is_last);
    case 2:
      return store<std::uint16_t>(to, from, is_last);
    default:
      return store<std::uint8_t>(to, from, is_last);
  }
}

}  // namespace

void dma_read(void* to, const std::byte* from, std::size_t bytes) {
  if (GpuContext* gpu = gpu_of(from)) return gpu_read(*gpu, to, from, bytes);
  copy(to, from, bytes);
}

void dma_write(std::byte* to, const void* from, std::size_t bytes) {
  if (GpuContext* gpu = gpu_of(to)) return gpu_write(*gpu, to, from, bytes);
  const auto* source = static_cast<const std::byte*>(from);
  const auto advance = [&](std::size_t by) { to += by, source += by, bytes -= by; };
  while (bytes != 0) {
    // Words of 8 bytes but the last one, in bulk: on x86-64 and aarch64 memcpy of aligned words
    // never tears a word, and the release store at the end orders all of it.
    const std::size_t word = word_at(to, bytes);
    if (word == 8 && bytes >= 16) {
      const std::size_t bulk = (bytes / 8 - 1) * 8;
      copy(to, source, bulk);
      advance(bulk);
      continue;
    }
    store_word(to, source, word, word == bytes);
    advance(word);
  }
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
