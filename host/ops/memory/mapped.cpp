#include "host/ops/memory/mapped.hpp"

#include <fmt/format.h>

#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/report/async_error.hpp"
#include "host/report/error_words.hpp"

namespace chime::host {

namespace {

void check_exists(const Runtime& runtime, int pe) {
  if (pe < 0 || pe >= runtime.n_pes()) throw Error("", CHIMEX_ERR_INVALID, no_such_pe(runtime, pe));
}

// As device code has it (route.cuh): memory of the calling PE that is not symmetric.
bool is_own_memory(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  return pe == runtime.my_pe() && address != nullptr && bytes <= PTRDIFF_MAX &&
         !runtime.device->heap.offset_of(address);
}

void check_bounds(const Heap& heap, const void* address, std::size_t bytes, int pe) {
  if (bytes != 0 && !heap.is_in_bounds(address, bytes))
    throw Error("", CHIMEX_ERR_INVALID, heap.why_out_of_bounds(address, bytes, pe));
}

std::size_t offset_of(const Heap& heap, const void* address, std::size_t bytes, int pe) {
  auto offset = heap.offset_of(address);
  const std::size_t end = heap.program_bytes();
  if (!offset || *offset >= end || bytes > end - *offset)
    throw Error("", CHIMEX_ERR_INVALID, heap.why_outside(address, bytes));
  check_bounds(heap, address, bytes, pe);
  return *offset;
}

void check_alignment(const Heap& heap, const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    throw Error("", CHIMEX_ERR_INVALID, heap.why_misaligned(address, bytes));
}

// The path that data takes to `pe`.
Path path_to(const Runtime& runtime, int pe) {
  check_exists(runtime, pe);
  const Path path = runtime.device->peers.path(pe);
  if (path == Path::kNone) throw_no_path(runtime, pe);
  return path;
}

}  // namespace

void check_reached(const Runtime& runtime, int pe) { path_to(runtime, pe); }

bool is_reached_by_copies(const Runtime& runtime, int pe) {
  return path_to(runtime, pe) == Path::kP2p;
}

void check_place(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_exists(runtime, pe);
  if (bytes != 0 && !is_own_memory(runtime, address, bytes, pe))
    offset_of(runtime.device->heap, address, bytes, pe);
}

void check_word(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  check_place(runtime, address, bytes, pe);
  check_alignment(runtime.device->heap, address, bytes);
}

void check_here(const Runtime& runtime, const void* here, std::size_t bytes) {
  check_bounds(runtime.device->heap, here, bytes, runtime.my_pe());
}

std::byte* mapped_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  if (is_own_memory(runtime, address, bytes, pe))
    return static_cast<std::byte*>(const_cast<void*>(address));
  return runtime.device->peers.heap(pe) + offset_of(runtime.device->heap, address, bytes, pe);
}

bool is_of_the_host_alone(const Runtime& runtime, const void* address, int pe) {
  return is_own_memory(runtime, address, 1, pe) && !runtime.device->gpu->kernels_reach(address);
}

void check_signal_op(int op) {
  if (op != CHIME_SIGNAL_SET && op != CHIME_SIGNAL_ADD)
    throw Error("", CHIMEX_ERR_INVALID, signal_op_sentence(op));
}

bool is_signalled_by_driver(const Runtime& runtime, int pe) {
  return is_reached_by_copies(runtime, pe) && context().pe.amo_path == Path::kP2p;
}

std::uint64_t* mapped_signal_at(const Runtime& runtime, const std::uint64_t* word, int pe) {
  std::byte* const mapped = mapped_at(runtime, word, sizeof(*word), pe);
  check_alignment(runtime.device->heap, word, sizeof(*word));
  return reinterpret_cast<std::uint64_t*>(mapped);
}

}  // namespace chime::host
