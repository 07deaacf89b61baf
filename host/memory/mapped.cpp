#include "host/memory/mapped.hpp"

#include <fmt/format.h>

#include "chime/chime.h"
#include "host/errors/error.hpp"

namespace chime::host {

namespace {

// On the CPU device host code drives the NIC by itself.
std::string why_kernels_alone(int pe) {
  return fmt::format(
      "PE {} is not mapped, and the NIC is the kernels' alone: on a GPU, operations of the host "
      "and of streams reach mapped PEs only; do it in a kernel, or set CHIME_P2P=auto",
      pe);
}

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
  const PeerTable& peers = runtime.device->peers;
  if (peers.path(pe) == Path::kP2p) return;
  throw Error("", CHIMEX_ERR_UNREACHABLE,
              peers.path(pe) == Path::kNic ? why_kernels_alone(pe) : peers.why_not(pe));
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
  return runtime.device->peers.heap(pe) + offset_of(runtime.device->heap, address, bytes);
}

std::byte* mapped_word_at(const Runtime& runtime, const void* address, std::size_t bytes, int pe) {
  std::byte* const word = mapped_at(runtime, address, bytes, pe);
  check_alignment(runtime.device->heap, address, bytes);
  return word;
}

void check_signal_op(int op) {
  if (op != CHIME_SIGNAL_SET && op != CHIME_SIGNAL_ADD)
    throw Error("", CHIMEX_ERR_INVALID, fmt::format("there is no signal operation {}", op));
}

std::uint64_t* mapped_signal_at(const Runtime& runtime, const std::uint64_t* word, int op, int pe) {
  check_signal_op(op);
  std::byte* const mapped = mapped_word_at(runtime, word, sizeof(*word), pe);
  if (op == CHIME_SIGNAL_ADD && context().pe.amo_path == Path::kNic)
    throw Error("", CHIMEX_ERR_UNSUPPORTED,
                "in this job the NIC of the PE that owns a word makes all additions to it "
                "(CHIME_AMO), and on a GPU it is the kernels' alone: signal from a kernel, or "
                "with CHIME_SIGNAL_SET");
  return reinterpret_cast<std::uint64_t*>(mapped);
}

}  // namespace chime::host
