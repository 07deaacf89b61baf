// On-stream operations: ordered like any other work of a stream. The arguments are checked when the
// call is made; the work happens when the stream reaches it.
//
// Puts and gets of mapped PEs are copies, complete at the target when the stream has passed them.
// In a job with a NIC or the proxy a host function of the stream calls the templates instead, and
// quiet waits for what they and kernels have posted. On a GPU, kernels of the library do both
// (library_kernels.cu), by the way of the program's kernels.
#define CHIME_HOST_ONLY
#include <fmt/format.h>

#include <algorithm>

#include "chime/chime.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "host/errors/async_error.hpp"
#include "host/errors/error.hpp"
#include "host/errors/guard.hpp"
#include "host/memory/mapped.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/teams.hpp"
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

// Whether host code makes operations that requests carry.
bool calls_templates(const Runtime& runtime) {
  return runtime.device->gpu->is_cpu() && runtime.device->posts();
}

// Rooms are no allocations of the program's.
bool goes_through_a_room(const MoveCall& move) { return move.room_is_left != nullptr; }
template <class Call>
bool goes_through_a_room(const Call&) {
  return false;
}

template <class Call>
void launch(Runtime& runtime, NativeStream stream, LibraryKernel kernel, Call call) {
  Context ctx = context();
  // As host code of the CPU device goes on: a fence that finds another PE lost still signals.
  if (ctx.pe.on_error == OnError::kExit) ctx.pe.on_error = OnError::kReturn;
  if (goes_through_a_room(call)) ctx.pe.allocations = nullptr;  // the host has checked both ends
  void* arguments[] = {&ctx, &call};
  runtime.device->gpu->launch_async(kernel, arguments, stream);
}

// A copy and a kernel cost more than a kernel that stages so much by itself, in one thread.
constexpr std::size_t kMostStagedBytes = 4096;

bool wants_a_room(const Runtime& runtime, const void* here, std::size_t bytes) {
  return bytes > kMostStagedBytes && !by_kernel::is_in_place(runtime, here, bytes);
}

// What requests cannot name goes through a room of the stream's, if it is long and one is free.
// Calls move(room, first byte, number of bytes) for pieces, each of which leaves the room free for
// the next.
template <class Move>
bool go_through_a_room(Runtime& runtime, const void* here, std::size_t bytes, NativeStream stream,
                       Move move) {
  if (!wants_a_room(runtime, here, bytes)) return false;
  return runtime.device->stream_rooms->lend(stream, [&](const StreamRooms::Lent& room) {
    const std::size_t most = room.memory.size();
    for (std::size_t at = 0; at < bytes; at += most) move(room, at, std::min(most, bytes - at));
  });
}

bool put_through_a_room(Runtime& runtime, const MoveCall& put, NativeStream stream) {
  const auto* const src = static_cast<const std::byte*>(put.src);
  auto* const dst = static_cast<std::byte*>(put.dst);
  return go_through_a_room(runtime, src, put.bytes, stream,
                           [&](const StreamRooms::Lent& room, std::size_t at, std::size_t bytes) {
                             std::byte* const memory = room.memory.data();
                             MoveCall piece =
                                 move_of(Operation::kPut, dst + at, memory, bytes, put.pe);
                             piece.room_is_left = room.is_left;
                             runtime.device->gpu->copy_async(memory, src + at, bytes, stream);
                             launch(runtime, stream, LibraryKernel::kMove, piece);
                           });
}

bool get_through_a_room(Runtime& runtime, const MoveCall& get, NativeStream stream) {
  const auto* const src = static_cast<const std::byte*>(get.src);
  auto* const dst = static_cast<std::byte*>(get.dst);
  return go_through_a_room(runtime, dst, get.bytes, stream,
                           [&](const StreamRooms::Lent& room, std::size_t at, std::size_t bytes) {
                             std::byte* const memory = room.memory.data();
                             MoveCall piece =
                                 move_of(Operation::kGet, memory, src + at, bytes, get.pe);
                             piece.room_is_left = room.is_left;
                             launch(runtime, stream, LibraryKernel::kMove, piece);
                             runtime.device->gpu->copy_async(dst + at, memory, bytes, stream);
                           });
}

// Where memory of this PE is not the kernels', the call does as the driver's copies do with
// pageable memory: it waits for what the stream was given before. Then the operation is the host's.
void wait_for_what_is_before(Gpu& gpu, NativeStream stream) {
  if (gpu.is_captured(stream))
    throw Error("", CHIMEX_ERR_UNSUPPORTED,
                "the stream is being captured into a graph, and memory that kernels do not reach "
                "is moved while the call waits; pin it, or take memory of the device");
  gpu.synchronize(stream);
}

void put(Runtime& runtime, const MoveCall& put, NativeStream stream) {
  if (calls_templates(runtime)) {
    check_place(runtime, put.dst, put.bytes, put.pe);
    check_here(runtime, put.src, put.bytes);
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      putmem(ctx, Thread{}, put.dst, put.src, put.bytes, put.pe);
    });
  }
  const Path path = path_to(runtime, put.pe);
  if (put.bytes == 0) return;
  check_here(runtime, put.src, put.bytes);
  Gpu& gpu = *runtime.device->gpu;
  if (path == Path::kP2p)
    return gpu.copy_async(mapped_at(runtime, put.dst, put.bytes, put.pe), put.src, put.bytes,
                          stream);
  check_place(runtime, put.dst, put.bytes, put.pe);
  if (by_kernel::kernels_take(runtime, put.src, put.bytes)) {
    if (put_through_a_room(runtime, put, stream)) return;
    return launch(runtime, stream, LibraryKernel::kMove, put);
  }
  wait_for_what_is_before(gpu, stream);
  by_kernel::put(runtime, put.dst, put.src, put.bytes, put.pe);
}

void get(Runtime& runtime, const MoveCall& get, NativeStream stream) {
  if (calls_templates(runtime)) {
    check_place(runtime, get.src, get.bytes, get.pe);
    check_here(runtime, get.dst, get.bytes);
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      getmem(ctx, Thread{}, get.dst, get.src, get.bytes, get.pe);
    });
  }
  const Path path = path_to(runtime, get.pe);
  if (get.bytes == 0) return;
  check_here(runtime, get.dst, get.bytes);
  Gpu& gpu = *runtime.device->gpu;
  if (path == Path::kP2p)
    return gpu.copy_async(get.dst, mapped_at(runtime, get.src, get.bytes, get.pe), get.bytes,
                          stream);
  check_place(runtime, get.src, get.bytes, get.pe);
  if (by_kernel::kernels_take(runtime, get.dst, get.bytes)) {
    if (get_through_a_room(runtime, get, stream)) return;
    return launch(runtime, stream, LibraryKernel::kMove, get);
  }
  wait_for_what_is_before(gpu, stream);
  by_kernel::get(runtime, get.dst, get.src, get.bytes, get.pe);
}

// Behind the stream's puts. The driver's own signals are behind its copies; what kernels have
// posted is ordered by a kernel.
void signal(Runtime& runtime, const SignalOpCall& signal, NativeStream stream) {
  check_signal_op(signal.op);
  check_word(runtime, signal.word, sizeof(*signal.word), signal.pe);
  if (calls_templates(runtime))
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      fence(ctx);
      signal_op(ctx, signal_of(signal.word, signal.value, signal.op), signal.pe);
    });
  if (is_of_the_host_alone(runtime, signal.word, signal.pe))
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("kernels do not reach the word at {}; pin it, or take memory of the "
                            "device",
                            fmt::ptr(signal.word)));
  if (!is_signalled_by_driver(runtime, signal.pe))
    return launch(runtime, stream, LibraryKernel::kSignalOp, signal);
  runtime.device->gpu->signal_async(mapped_signal_at(runtime, signal.word, signal.pe), signal.value,
                                    signal.op == CHIME_SIGNAL_ADD, stream);
}

SignalOpCall signal_op_of(std::uint64_t* word, std::uint64_t value, int op, int pe) {
  return {.word = word, .value = value, .op = op, .pe = pe, .ends = Ends::kAsItSays};
}

// Data and signal by one kernel, where that takes the data as it is.
void put_signal(Runtime& runtime, const MoveCall& data, const SignalOpCall& then,
                NativeStream stream) {
  check_signal_op(then.op);
  check_word(runtime, then.word, sizeof(*then.word), then.pe);
  check_place(runtime, data.dst, data.bytes, data.pe);
  check_here(runtime, data.src, data.bytes);
  const bool is_one = !runtime.device->gpu->is_cpu() && data.bytes != 0 &&
                      path_to(runtime, data.pe) != Path::kP2p &&
                      by_kernel::kernels_take(runtime, data.src, data.bytes) &&
                      !wants_a_room(runtime, data.src, data.bytes);
  if (!is_one) {
    put(runtime, data, stream);
    return signal(runtime, then, stream);
  }
  MoveCall both = data;
  both.operation =
      data.operation == Operation::kPutNbi ? Operation::kPutSignalNbi : Operation::kPutSignal;
  both.signal = then.word;
  both.value = then.value;
  both.signal_op = then.op;
  launch(runtime, stream, LibraryKernel::kMove, both);
}

// What waits on a stream: a host function on the CPU device; on a GPU, whose heap host code cannot
// look at, a kernel of the library that runs the same template.
template <class Call, class Operation>
void on_stream(Runtime& runtime, NativeStream stream, LibraryKernel kernel, Call call,
               Operation operation) {
  if (runtime.device->gpu->is_cpu()) return call_on_stream(runtime, stream, operation);
  launch(runtime, stream, kernel, call);
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
void run_and_tell(Operation run) {
  Runtime& runtime = ready_runtime();
  if (!goes_on(*current_slot())) throw_recorded_error(runtime);
  run(runtime);
  throw_recorded_error(runtime);
}

template <class Operation>
void operation(const char* function, Operation run) noexcept {
  guarded(function, [&] { run_and_tell(run); });
}

template <class Operation>
int team_operation(const char* function, Operation run) noexcept {
  return status_of(function, [&] { run_and_tell(run); });
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

void chimex_putmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                             chimex_stream_t stream) {
  operation("chimex_putmem_on_stream", [=](Runtime& runtime) {
    put(runtime, move_of(Operation::kPut, dst, src, bytes, pe), stream);
  });
}

void chimex_putmem_nbi_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                 chimex_stream_t stream) {
  operation("chimex_putmem_nbi_on_stream", [=](Runtime& runtime) {
    put(runtime, move_of(Operation::kPutNbi, dst, src, bytes, pe), stream);
  });
}

void chimex_getmem_on_stream(void* dst, const void* src, size_t bytes, int pe,
                             chimex_stream_t stream) {
  operation("chimex_getmem_on_stream", [=](Runtime& runtime) {
    get(runtime, move_of(Operation::kGet, dst, src, bytes, pe), stream);
  });
}

void chimex_putmem_signal_on_stream(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                    uint64_t value, int op, int pe, chimex_stream_t stream) {
  operation("chimex_putmem_signal_on_stream", [=](Runtime& runtime) {
    put_signal(runtime, move_of(Operation::kPut, dst, src, bytes, pe),
               signal_op_of(sig, value, op, pe), stream);
  });
}

void chimex_putmem_signal_nbi_on_stream(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                        uint64_t value, int op, int pe, chimex_stream_t stream) {
  operation("chimex_putmem_signal_nbi_on_stream", [=](Runtime& runtime) {
    put_signal(runtime, move_of(Operation::kPutNbi, dst, src, bytes, pe),
               signal_op_of(sig, value, op, pe), stream);
  });
}

void chimex_signal_op_on_stream(uint64_t* sig, uint64_t value, int op, int pe,
                                chimex_stream_t stream) {
  operation("chimex_signal_op_on_stream",
            [=](Runtime& runtime) { signal(runtime, signal_op_of(sig, value, op, pe), stream); });
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

int chimex_barrier_on_stream(chime_team_t team, chimex_stream_t stream) {
  return team_operation("chimex_barrier_on_stream", [=](Runtime& runtime) {
    if (all_pes_meet_in(team))
      barrier(runtime, stream);
    else
      quiet(runtime, stream);
  });
}

int chimex_team_sync_on_stream(chime_team_t team, chimex_stream_t stream) {
  return team_operation("chimex_team_sync_on_stream", [=](Runtime& runtime) {
    if (all_pes_meet_in(team)) sync(runtime, stream);
  });
}

}  // extern "C"
