// On-stream operations: ordered like any other work of a stream. The arguments are checked when the
// call is made; the work happens when the stream reaches it.
//
// Puts and gets of mapped PEs are copies, complete at the target when the stream has passed them.
// In a job with a NIC a host function of the stream calls the templates instead, and quiet waits
// for what they and kernels have posted. On a GPU, only mapped PEs are reached so far, additions
// beside a NIC are refused, and quiet is a kernel's.
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "host/errors/async_error.hpp"
#include "host/errors/error.hpp"
#include "host/errors/guard.hpp"
#include "host/memory/mapped.hpp"
#include "host/pe/init.hpp"

namespace chime::host {
namespace {

// Runs `operation` on the calling thread's PE when `stream` reaches it. A failure is recorded like
// a kernel's.
template <class Operation>
void call_on_stream(Runtime& runtime, NativeStream stream, Operation operation) {
  struct Call {
    PeSlot* slot;
    Operation operation;
  };
  auto call = std::make_unique<Call>(Call{current_slot(), operation});
  runtime.device->gpu->host_call_async(
      [](void* argument) {
        std::unique_ptr<Call> owned(static_cast<Call*>(argument));
        owned->operation(owned->slot->host_context);
      },
      call.get(), stream);
  call.release();  // by the stream
}

// Whether operations are those of device code: a NIC makes some, and host code may drive it.
bool calls_templates(const Runtime& runtime) {
  return runtime.device->gpu->is_cpu() && runtime.device->posts();
}

void put(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe,
         NativeStream stream) {
  if (calls_templates(runtime)) {
    check_place(runtime, dst, bytes, pe);
    return call_on_stream(runtime, stream,
                          [=](const Context& ctx) { putmem(ctx, Thread{}, dst, src, bytes, pe); });
  }
  if (bytes == 0) return check_pe(runtime, pe);
  runtime.device->gpu->copy_async(mapped_at(runtime, dst, bytes, pe), src, bytes, stream);
}

void get(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe,
         NativeStream stream) {
  if (calls_templates(runtime)) {
    check_place(runtime, src, bytes, pe);
    return call_on_stream(runtime, stream,
                          [=](const Context& ctx) { getmem(ctx, Thread{}, dst, src, bytes, pe); });
  }
  if (bytes == 0) return check_pe(runtime, pe);
  runtime.device->gpu->copy_async(dst, mapped_at(runtime, src, bytes, pe), bytes, stream);
}

void signal(Runtime& runtime, std::uint64_t* address, std::uint64_t value, int op, int pe,
            NativeStream stream) {
  if (calls_templates(runtime)) {
    check_signal_op(op);
    check_word(runtime, address, sizeof(*address), pe);
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      fence(ctx);  // behind the stream's puts
      signal_op(ctx, {address, value, static_cast<SignalOp>(op)}, pe);
    });
  }
  runtime.device->gpu->signal_async(mapped_signal_at(runtime, address, op, pe), value,
                                    op == CHIME_SIGNAL_ADD, stream);
}

void put_signal(Runtime& runtime, void* dst, const void* src, std::size_t bytes, std::uint64_t* sig,
                std::uint64_t value, int op, int pe, NativeStream stream) {
  put(runtime, dst, src, bytes, pe, stream);
  signal(runtime, sig, value, op, pe, stream);
}

// What waits on a stream: a host function on the CPU device; on a GPU, whose heap host code cannot
// look at, a kernel of the library that runs the same template.
template <class Call, class Operation>
void on_stream(Runtime& runtime, NativeStream stream, LibraryKernel kernel, Call call,
               Operation operation) {
  if (runtime.device->gpu->is_cpu()) return call_on_stream(runtime, stream, operation);
  Context ctx = context();
  void* arguments[] = {&ctx, &call};
  runtime.device->gpu->launch_async(kernel, arguments, stream);
}

void signal_wait(Runtime& runtime, std::uint64_t* word, int cmp, std::uint64_t value,
                 NativeStream stream) {
  on_stream(
      runtime, stream, LibraryKernel::kSignalWait, SignalWaitCall{word, value, cmp},
      [=](const Context& ctx) { signal_wait_until(ctx, word, static_cast<Cmp>(cmp), value); });
}

void quiet(Runtime& runtime, NativeStream stream) {
  if (!runtime.device->posts()) return;
  on_stream(runtime, stream, LibraryKernel::kSync, SyncCall{Operation::kQuiet}, chime::quiet);
}

void barrier(Runtime& runtime, NativeStream stream) {
  on_stream(runtime, stream, LibraryKernel::kSync, SyncCall{Operation::kBarrierAll},
            [](const Context& ctx) { barrier_all(ctx, Thread{}); });
}

void sync(Runtime& runtime, NativeStream stream) {
  on_stream(runtime, stream, LibraryKernel::kSync, SyncCall{Operation::kSyncAll},
            [](const Context& ctx) { sync_all(ctx, Thread{}); });
}

// One exported operation. What kernels have recorded is told: before it, where that ends the
// program, else after it, for other PEs wait for what it sends.
template <class Operation>
void operation(const char* function, Operation run) noexcept {
  guarded(function, [&] {
    Runtime& runtime = ready_runtime();
    if (!goes_on(*current_slot())) throw_recorded_error(runtime);
    run(runtime);
    throw_recorded_error(runtime);
  });
}

}  // namespace
}  // namespace chime::host

using namespace chime::host;  // NOLINT: this file only forwards into it

extern "C" {

void chimex_putmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                             chimex_stream_t stream) {
  operation("chimex_putmem_on_stream",
            [=](Runtime& runtime) { put(runtime, dst, src, bytes, pe, stream); });
}

void chimex_putmem_nbi_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                 chimex_stream_t stream) {
  operation("chimex_putmem_nbi_on_stream",
            [=](Runtime& runtime) { put(runtime, dst, src, bytes, pe, stream); });
}

void chimex_getmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                             chimex_stream_t stream) {
  operation("chimex_getmem_on_stream",
            [=](Runtime& runtime) { get(runtime, dst, src, bytes, pe, stream); });
}

void chimex_putmem_signal_on_stream(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                    uint64_t value, int op, int pe, chimex_stream_t stream) {
  operation("chimex_putmem_signal_on_stream", [=](Runtime& runtime) {
    put_signal(runtime, dst, src, bytes, sig, value, op, pe, stream);
  });
}

void chimex_putmem_signal_nbi_on_stream(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                        uint64_t value, int op, int pe, chimex_stream_t stream) {
  operation("chimex_putmem_signal_nbi_on_stream", [=](Runtime& runtime) {
    put_signal(runtime, dst, src, bytes, sig, value, op, pe, stream);
  });
}

void chimex_signal_op_on_stream(uint64_t* sig, uint64_t value, int op, int pe,
                                chimex_stream_t stream) {
  operation("chimex_signal_op_on_stream",
            [=](Runtime& runtime) { signal(runtime, sig, value, op, pe, stream); });
}

void chimex_signal_wait_until_on_stream(uint64_t* sig, int cmp, uint64_t value,
                                        chimex_stream_t stream) {
  operation("chimex_signal_wait_until_on_stream",
            [=](Runtime& runtime) { signal_wait(runtime, sig, cmp, value, stream); });
}

void chimex_quiet_on_stream(chimex_stream_t stream) {
  operation("chimex_quiet_on_stream", [=](Runtime& runtime) { quiet(runtime, stream); });
}

void chimex_barrier_all_on_stream(chimex_stream_t stream) {
  operation("chimex_barrier_all_on_stream", [=](Runtime& runtime) { barrier(runtime, stream); });
}

void chimex_sync_all_on_stream(chimex_stream_t stream) {
  operation("chimex_sync_all_on_stream", [=](Runtime& runtime) { sync(runtime, stream); });
}

}  // extern "C"
