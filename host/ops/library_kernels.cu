// The kernels that libchime launches by itself on a GPU: stream-ordered signals, waits and syncs,
// the host's atomics on GPU heaps, data of host and streams for PEs that requests lead to, and
// updates of words that peers ask the host for. They are the templates that users' kernels run, so
// a wait here ends by the same abort word and deadline, and its failure is recorded in the same
// place.
//
// nvcc compiles library.cu to device code alone, which libchime.so carries as data
// (library_kernels.S) and the driver loads: no CUDA runtime is linked. Tests compile it for the
// CPU.
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "host/gpu/library_kernel.hpp"
#include "host/memory/word_updates.cuh"
#include "host/ops/amo_table.cuh"
#include "host/ops/meet.cuh"
#include "host/ops/typed.cuh"

using chime::Context;
using namespace chime::host;  // NOLINT: this file only forwards

// The fence: what the stream did before this kernel is older than the signal.
extern "C" CHIME_KERNEL void chime_library_signal(const CHIME_GRID_CONSTANT SignalCall call) {
  chime::order::puts_visible();
  chime::p2p::signal(call.word, call.value,
                     call.adds != 0 ? chime::SignalOp::kAdd : chime::SignalOp::kSet);
}

extern "C" CHIME_KERNEL void chime_library_signal_wait(
    const CHIME_GRID_CONSTANT Context ctx, const CHIME_GRID_CONSTANT SignalWaitCall call) {
  chime::signal_wait_until(ctx, call.word, static_cast<chime::Cmp>(call.cmp), call.value);
}

extern "C" CHIME_KERNEL void chime_library_wait(const CHIME_GRID_CONSTANT Context ctx,
                                                const CHIME_GRID_CONSTANT WaitCall call) {
  chime::host::wait_all(ctx, call);
}

extern "C" CHIME_KERNEL void chime_library_sync(const CHIME_GRID_CONSTANT Context ctx,
                                                const CHIME_GRID_CONSTANT SyncCall call) {
  chime::host::meet(ctx, call);
}

namespace chime::host {

// All that this kernel has sent to `pe` is there, because a host's operation is complete when its
// call returns. Not a quiet, which fails by any peer that is lost: this operation may be on
// another.
CHIME_DEVICE void complete(const Context& ctx, Traffic traffic, int pe) {
  if (abi::Channel* const path = route_to(ctx, traffic, pe).channel) {
    std::uint64_t seen = 0;
    const bool has_ended =
        channel::poll_until_done<channel::kAny>(ctx, *path, channel::target(*path), pe, seen);
    if (!has_ended || channel::has_lost(*path, pe)) channel::leave_operation(ctx, *path, pe);
  }
  order::puts_visible();
}

}  // namespace chime::host

// The host reads the old value when the stream has passed this kernel.
extern "C" CHIME_KERNEL void chime_library_amo(const CHIME_GRID_CONSTANT Context ctx,
                                               const CHIME_GRID_CONSTANT AmoCall call) {
  *call.old = apply_amo(ctx, call);
  complete(ctx, chime::Traffic::kAtomic, call.pe);
}

namespace chime::host {

CHIME_DEVICE void move(const Context& ctx, const MoveCall& call) {
  const SignalUpdate signal = signal_of(call.signal, call.value, call.signal_op);
  if (call.operation == Operation::kPut) {
    putmem(ctx, Thread{}, call.dst, call.src, call.bytes, call.pe);
  } else if (call.operation == Operation::kPutNbi) {
    putmem_nbi(ctx, Thread{}, call.dst, call.src, call.bytes, call.pe);
  } else if (call.operation == Operation::kGet) {
    getmem(ctx, Thread{}, call.dst, call.src, call.bytes, call.pe);
  } else if (call.operation == Operation::kPutSignal) {
    putmem_signal(ctx, Thread{}, call.dst, call.src, call.bytes, signal, call.pe);
  } else {
    putmem_signal_nbi(ctx, Thread{}, call.dst, call.src, call.bytes, signal, call.pe);
  }
}

// Every thread of the block the elements of its rank, by itself. The stand-in of tests is one.
template <class T>
CHIME_DEVICE void move_strided(const Context& ctx, const StridedCall& call) {
  const std::size_t rank = exec::in_kernel() ? exec::thread_rank() : 0;
  const std::size_t threads = exec::in_kernel() ? exec::block_threads() : 1;
  if (rank >= call.count) return;
  const std::size_t mine = (call.count - rank + threads - 1) / threads;
  T* const dst = static_cast<T*>(call.dst) + static_cast<std::ptrdiff_t>(rank) * call.dst_stride;
  const T* const src =
      static_cast<const T*>(call.src) + static_cast<std::ptrdiff_t>(rank) * call.src_stride;
  const auto every = static_cast<std::ptrdiff_t>(threads);
  if (call.operation == Operation::kIput) {
    iput(ctx, Thread{}, dst, src, every * call.dst_stride, every * call.src_stride, mine, call.pe);
  } else {
    iget(ctx, Thread{}, dst, src, every * call.dst_stride, every * call.src_stride, mine, call.pe);
  }
}

template <class T>
CHIME_DEVICE void move_element(const Context& ctx, const ElementCall& call) {
  T* const symmetric = static_cast<T*>(call.symmetric);
  if (call.operation == Operation::kP) {
    T value;
    memcpy(&value, call.value, sizeof(T));
    p(ctx, symmetric, value, call.pe);
  } else {
    const T value = g(ctx, static_cast<const T*>(symmetric), call.pe);
    memcpy(call.result, &value, sizeof(T));
  }
}

}  // namespace chime::host

namespace chime::host {

// Where the path is lost and not all that went by it has ended: the call's request may be one that
// was given up. Asks for no path that is not open.
CHIME_DEVICE void leave_if_lost(const Context& ctx, std::uint32_t* room, int pe) {
  if (chime::channel::route_so_far(ctx.channels, pe) == 0) return;
  const chime::abi::Channel* const path = chime::route_to(ctx, chime::Traffic::kData, pe).channel;
  if (path == nullptr || !(channel::is_stopped(*path) || channel::has_lost(*path, pe))) return;
  if (channel::through(*path) >= channel::target(*path)) return;
  exec::st<exec::Order::kRelaxed, exec::Scope::kSystem>(room, 1u);
}

}  // namespace chime::host

extern "C" CHIME_KERNEL void chime_library_move(const CHIME_GRID_CONSTANT Context ctx,
                                                const CHIME_GRID_CONSTANT MoveCall call) {
  move(ctx, call);
  if (call.ends == Ends::kComplete) complete(ctx, chime::Traffic::kData, call.pe);
  if (call.room_is_left != nullptr) leave_if_lost(ctx, call.room_is_left, call.pe);
}

extern "C" CHIME_KERNEL void chime_library_strided(const CHIME_GRID_CONSTANT Context ctx,
                                                   const CHIME_GRID_CONSTANT StridedCall call) {
  with_element(call.element_bytes, [&]<class T>(T) { move_strided<T>(ctx, call); });
  complete(ctx, chime::Traffic::kData, call.pe);
}

extern "C" CHIME_KERNEL void chime_library_element(const CHIME_GRID_CONSTANT Context ctx,
                                                   const CHIME_GRID_CONSTANT ElementCall call) {
  with_element(call.bytes, [&]<class T>(T) { move_element<T>(ctx, call); });
  complete(ctx, chime::Traffic::kData, call.pe);
}

extern "C" CHIME_KERNEL void chime_library_signal_op(const CHIME_GRID_CONSTANT Context ctx,
                                                     const CHIME_GRID_CONSTANT SignalOpCall call) {
  if (call.ends == Ends::kAsItSays) chime::fence(ctx);  // a call of the host has nothing before it
  chime::signal_op(ctx, chime::signal_of(call.word, call.value, call.op), call.pe);
  if (call.ends == Ends::kAsItSays) return;
  complete(ctx, chime::traffic_of(static_cast<chime::SignalOp>(call.op)), call.pe);
}

extern "C" CHIME_KERNEL void chime_library_update(const CHIME_GRID_CONSTANT UpdateCall call) {
  chime::host::update_words(nullptr, call);
}

extern "C" CHIME_KERNEL void chime_library_update_by_nic(
    const CHIME_GRID_CONSTANT Context ctx, const CHIME_GRID_CONSTANT UpdateCall call) {
  chime::host::update_words(&ctx, call);
}
