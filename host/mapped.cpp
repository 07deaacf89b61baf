#include "host/mapped.hpp"

#include <fmt/format.h>

#include "host/error.hpp"

namespace chime::host {

namespace {

void check_exists(const Runtime& runtime, int pe) {
  if (pe < 0 || pe >= runtime.n_pes())
    throw Error(
        "", CHIMEX_ERR_INVALID,
        fmt::format("there is no PE {}; this job has PEs 0 to {}", pe, runtime.n_pes() - 1));
}

std::size_t offset_of(const Heap& heap, const void* address, std::size_t bytes) {
  auto offset = heap.offset_of(address);
  if (!offset || bytes > heap.bytes() - *offset)
    throw Error("", CHIMEX_ERR_INVALID, heap.why_outside(address, bytes));
  return *offset;
}

void check_alignment(const Heap& heap, const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    throw Error("", CHIMEX_ERR_INVALID, heap.why_misaligned(address, bytes));
}

}  // namespace

void check_pe(const Runtime& runtime, int pe) {
  check_exists(runtime, pe);
  if (!runtime.device->p2p.reaches(pe))
    throw Error("", CHIMEX_ERR_UNREACHABLE, runtime.device->p2p.why_not(pe));
}

void check_place(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_exists(runtime, pe);
  if (bytes != 0) offset_of(runtime.device->heap, address, bytes);
}

void check_word(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_place(runtime, address, bytes, pe);
  check_alignment(runtime.device->heap, address, bytes);
}

std::byte* mapped_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_pe(runtime, pe);
  return runtime.device->p2p.heap(pe) + offset_of(runtime.device->heap, address, bytes);
}

std::byte* mapped_word_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  std::byte* const word = mapped_at(runtime, address, bytes, pe);
  check_alignment(runtime.device->heap, address, bytes);
  return word;
}

}  // namespace chime::host
