// The kernels that libchime launches by itself on a GPU: stream-ordered signals, waits and syncs,
// and the host's atomics on GPU heaps. They are the templates that users' kernels run, so a wait
// here ends by the same abort word and deadline, and its failure is recorded in the same place.
//
// nvcc compiles this file to device code alone, which libchime.so carries as data
// (library_kernels.S) and the driver loads: no CUDA runtime is linked. Tests compile it for the
// CPU.
#include "chime/device/coll/barrier.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "host/gpu/library_kernel.hpp"
#include "host/ops/amo_table.cuh"

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

extern "C" CHIME_KERNEL void chime_library_sync(const CHIME_GRID_CONSTANT Context ctx,
                                                const CHIME_GRID_CONSTANT SyncCall call) {
  if (call.operation == chime::Operation::kQuiet) {
    chime::quiet(ctx);
  } else if (call.operation == chime::Operation::kBarrierAll) {
    chime::barrier_all(ctx, chime::Thread{});
  } else {
    chime::sync_all(ctx, chime::Thread{});
  }
}

// The host reads the old value when the stream has passed this kernel. The quiet: a host's
// operation is complete when its call returns, also where a NIC makes it.
extern "C" CHIME_KERNEL void chime_library_amo(const CHIME_GRID_CONSTANT Context ctx,
                                               const CHIME_GRID_CONSTANT AmoCall call) {
  *call.old = apply_amo(ctx, call);
  chime::quiet(ctx);
}
