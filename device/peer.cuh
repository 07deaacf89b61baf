// Mapped or remote, and by which path: the only file that decides.
//
// Memory that is mapped here is reached by loads and stores (path/p2p.cuh), other memory by the NIC
// (path/nic), and what it does not reach, not at all. The proxy becomes a further answer of
// rma_path() and amo_path().
#ifndef CHIME_DEVICE_PEER_CUH_
#define CHIME_DEVICE_PEER_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/state.h"
#include "chime/device/exec.cuh"
#include "chime/device/fail.cuh"

namespace chime {

CHIME_DEVICE bool pe_exists(const Context& ctx, int pe) {
  return static_cast<unsigned>(pe) < static_cast<unsigned>(ctx.n_pes);
}

// Distance of `p` from the start of this PE's heap; at least ctx.heap_bytes if it is not inside.
CHIME_DEVICE std::uint64_t heap_offset(const Context& ctx, const void* p) {
  return reinterpret_cast<std::uint64_t>(p) - reinterpret_cast<std::uint64_t>(ctx.heap);
}

CHIME_DEVICE bool is_in_heap(const Context& ctx, const void* p, std::size_t bytes) {
  const std::uint64_t offset = heap_offset(ctx, p);
  return offset < ctx.heap_bytes && bytes <= ctx.heap_bytes - offset;
}

// The NIC as the caller uses it, kernels and host apart; null if there is none.
CHIME_DEVICE const abi::NicContext* nic_of(const Context& ctx) {
  return exec::in_kernel() ? ctx.nic : ctx.host_nic;
}

CHIME_DEVICE Path nic_path(const Context& ctx, int pe) {
  const abi::NicContext* const nic = nic_of(ctx);
  if (nic == nullptr) return Path::kNone;
  // Pairs with the release of the host, which has filled in the peer before.
  const auto state = exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&nic->peers[pe].state);
  return state == abi::NicPeerState::kUsable ? Path::kNic : Path::kNone;
}

// How puts, gets and SIGNAL_SETs reach `pe`. A latch per peer: set before the peer is used.
CHIME_DEVICE Path rma_path(const Context& ctx, int pe) {
  if (!pe_exists(ctx, pe)) return Path::kNone;
  return ctx.peer_heap[pe] != nullptr ? Path::kP2p : nic_path(ctx, pe);
}

// How atomics and SIGNAL_ADDs reach `pe`. One answer for the whole job, because a word's updates
// are atomic with each other only if one agent makes them all: if any PE is out of reach of loads
// and stores, the owner's NIC or proxy makes them for everybody, mapped or not.
CHIME_DEVICE Path amo_path(const Context& ctx, int pe) {
  if (ctx.amo_path == Path::kP2p) return rma_path(ctx, pe);
  return pe_exists(ctx, pe) ? nic_path(ctx, pe) : Path::kNone;
}

// `alignment`: a power of two.
CHIME_DEVICE bool is_aligned(const void* p, std::size_t alignment) {
  return (reinterpret_cast<std::uint64_t>(p) & (alignment - 1)) == 0;
}

// Who asks for the memory of a PE, for the errors: the operation, and what the address that it was
// given must be a multiple of. One register.
struct Caller {
  Operation operation;
  std::uint16_t alignment;
};

// Where `pe`'s copy of the `bytes` at symmetric address `p` is mapped here. Null if it is not, if
// there is no such PE, or if `p` is not in the heap. CHIME_CHECK=1 also looks at the end and at the
// alignment.
template <class T>
CHIME_DEVICE T* peer_ptr(const Context& ctx, T* p, int pe, std::size_t bytes = 1,
                         std::size_t alignment = 1) {
  const std::uint64_t offset = heap_offset(ctx, p);
  if (offset >= ctx.heap_bytes || !pe_exists(ctx, pe) || ctx.peer_heap[pe] == nullptr) {
    return nullptr;
  }
  if (ctx.checked != 0 && (bytes > ctx.heap_bytes - offset || !is_aligned(p, alignment))) {
    return nullptr;
  }
  return reinterpret_cast<T*>(ctx.peer_heap[pe] + offset);
}

// The same for a word that is loaded and stored as a whole.
template <class T>
CHIME_DEVICE T* peer_word_ptr(const Context& ctx, T* p, int pe) {
  return peer_ptr(ctx, p, pe, sizeof(T), sizeof(T));
}

// The same for a word that atomics work on.
template <class T>
CHIME_DEVICE T* amo_ptr(const Context& ctx, T* p, int pe) {
  return ctx.amo_path == Path::kP2p ? peer_word_ptr(ctx, p, pe) : nullptr;
}

// Whether `path`, by which a PE is reached, is the NIC, and the `bytes` at symmetric address `p`
// are for it to move.
CHIME_DEVICE bool nic_carries(const Context& ctx, Path path, const void* p, std::size_t bytes,
                              std::size_t alignment) {
  const std::uint64_t offset = heap_offset(ctx, p);
  if (path != Path::kNic || offset >= ctx.heap_bytes) return false;
  return ctx.checked == 0 || (bytes <= ctx.heap_bytes - offset && is_aligned(p, alignment));
}

// The same for a word of signals and atomics.
template <class T>
CHIME_DEVICE bool nic_carries_word(const Context& ctx, Path path, const T* p) {
  return is_aligned(p, sizeof(T)) && nic_carries(ctx, path, p, sizeof(T), sizeof(T));
}

// No path leads there. Says which of the reasons it is, and leaves.
CHIME_DEVICE void fail_unreachable(const Context& ctx, const void* p, std::size_t bytes, int pe,
                                   Caller caller) {
  if (ctx.abi_version == 0) {
    exec::trap("chime: no PE is bound to this kernel's state: call chime_init before the launch");
  }
  const bool exists = pe_exists(ctx, pe) && is_in_heap(ctx, p, bytes);
  const bool is_misaligned = exists && !is_aligned(p, caller.alignment);
  fail(ctx, {.status = exists && !is_misaligned ? CHIMEX_ERR_UNREACHABLE : CHIMEX_ERR_INVALID,
             .operation = caller.operation,
             .pe = pe,
             .fault = is_misaligned ? Fault::kAlignment : Fault::kPlace,
             .address = p,
             .expected = is_misaligned ? caller.alignment : bytes});
}

// An operation on no bytes touches nothing, but in a checked job its PE must exist. False after an
// error with CHIME_ON_ERROR=return.
CHIME_DEVICE bool check_pe(const Context& ctx, int pe, Operation operation) {
  if (ctx.checked == 0 || pe_exists(ctx, pe)) return true;
  fail_unreachable(ctx, nullptr, 0, pe, {operation, 1});
  return false;
}

}  // namespace chime

#endif  // CHIME_DEVICE_PEER_CUH_
