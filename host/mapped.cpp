#include "host/mapped.hpp"

#include <fmt/format.h>

#include "host/error.hpp"

namespace chime::host {

void check_pe(const Runtime& runtime, int pe) {
  if (pe < 0 || pe >= runtime.n_pes())
    throw Error(
        "", CHIMEX_ERR_INVALID,
        fmt::format("there is no PE {}; this job has PEs 0 to {}", pe, runtime.n_pes() - 1));
  if (!runtime.device->p2p.reaches(pe))
    throw Error("", CHIMEX_ERR_UNREACHABLE, runtime.device->p2p.why_not(pe));
}

std::byte* mapped_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_pe(runtime, pe);
  const Heap& heap = runtime.device->heap;
  auto offset = heap.offset_of(address);
  if (!offset || bytes > heap.bytes() - *offset)
    throw Error("", CHIMEX_ERR_INVALID, heap.why_outside(address, bytes));
  return runtime.device->p2p.heap(pe) + *offset;
}

std::byte* mapped_word_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  std::byte* const word = mapped_at(runtime, address, bytes, pe);
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    throw Error("", CHIMEX_ERR_INVALID, runtime.device->heap.why_misaligned(address, bytes));
  return word;
}

}  // namespace chime::host
