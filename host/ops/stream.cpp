// On-stream operations: ordered like any other work of a stream. The arguments are checked when the
// call is made; the work happens when the stream reaches it.
//
// Puts and gets of mapped PEs are copies, complete at the target when the stream has passed them.
// In a job with a NIC or the proxy a host function of the stream calls the templates instead, and
// quiet waits for the requests that host functions and kernels have posted. On a GPU, kernels of
// the library do both (host/ops/library.cu), by the path of the program's kernels.
#define CHIME_HOST_ONLY
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "chime/chime.h"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "host/errors/error.hpp"
#include "host/ops/collectives/collect.cuh"
#include "host/ops/collectives/collectives.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/meet.cuh"
#include "host/ops/memory/mapped.hpp"
#include "host/ops/teams/teams.hpp"
#include "host/ops/typed.cuh"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"
#include "host/report/guard.hpp"

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

// Data that requests cannot name goes through a room of the stream, if it is long and a room is
// free. Calls move(room, first byte, number of bytes) for pieces, each of which leaves the room
// free for the next.
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

constexpr const char* kMovedMeanwhile =
    "memory that kernels do not reach is moved while the call waits; pin it, or take memory of the "
    "device";

// Where memory of this PE is not the kernels', the call does as the driver's copies do with
// pageable memory: it waits for what the stream was given before. Then the operation is the host's.
void wait_for_what_is_before(Gpu& gpu, NativeStream stream, const char* why = kMovedMeanwhile) {
  if (gpu.is_captured(stream))
    throw Error("", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("the stream is being captured into a graph, and {}", why));
  gpu.synchronize(stream);
}

[[noreturn]] void refuse_unreached(const char* what, const void* memory) {
  throw Error("", CHIMEX_ERR_INVALID,
              fmt::format("kernels do not reach the {} at {}; pin it, or take memory of the device",
                          what, fmt::ptr(memory)));
}

void put(Runtime& runtime, const MoveCall& put, NativeStream stream) {
  if (calls_templates(runtime)) {
    check_place(runtime, put.dst, put.bytes, put.pe);
    check_here(runtime, put.src, put.bytes);
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      putmem(ctx, Thread{}, put.dst, put.src, put.bytes, put.pe);
    });
  }
  const bool is_copied = is_reached_by_copies(runtime, put.pe);
  if (put.bytes == 0) return;
  check_here(runtime, put.src, put.bytes);
  Gpu& gpu = *runtime.device->gpu;
  if (is_copied)
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
  const bool is_copied = is_reached_by_copies(runtime, get.pe);
  if (get.bytes == 0) return;
  check_here(runtime, get.dst, get.bytes);
  Gpu& gpu = *runtime.device->gpu;
  if (is_copied)
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
  if (is_of_the_host_alone(runtime, signal.word, signal.pe)) refuse_unreached("word", signal.word);
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
                      !is_reached_by_copies(runtime, data.pe) &&
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

// ---- Elements -----------------------------------------------------------------------------------

void put_element(Runtime& runtime, void* dst, const void* value, std::size_t bytes, int pe,
                 NativeStream stream) {
  check_reached(runtime, pe);
  check_element(bytes);
  check_word(runtime, dst, bytes, pe);
  const ElementCall element = put_element_of(dst, value, bytes, pe);
  Gpu& gpu = *runtime.device->gpu;
  if (gpu.is_cpu())
    return call_on_stream(runtime, stream, [=](const Context& ctx) {
      with_element(bytes, [&]<class T>(T word) {
        std::memcpy(&word, element.value, sizeof(T));
        p(ctx, static_cast<T*>(dst), word, pe);
      });
    });
  if (!is_of_the_host_alone(runtime, dst, pe))
    return launch(runtime, stream, LibraryKernel::kElement, element);
  wait_for_what_is_before(gpu, stream);
  gpu_ops::put_element(runtime, dst, value, bytes, pe);
}

// The caller has the value when the call returns.
void get_element(Runtime& runtime, void* value, const void* src, std::size_t bytes, int pe,
                 NativeStream stream) {
  wait_for_what_is_before(*runtime.device->gpu, stream,
                          "g gives its value when it returns; get it into memory instead");
  chime_host_g(value, src, bytes, pe);
}

// Which end of a strided operation is at the PE, and which is here.
struct StridedEnds {
  const void *there, *here;
  std::size_t bytes_there, bytes_here;
};
StridedEnds ends_of(const StridedCall& call) {
  const std::size_t dst = span_of(call.dst_stride, call.count, call.element_bytes);
  const std::size_t src = span_of(call.src_stride, call.count, call.element_bytes);
  if (call.operation == Operation::kIput) return {call.dst, call.src, dst, src};
  return {call.src, call.dst, src, dst};
}

void move_strided(const Context& ctx, const StridedCall& call) {
  with_element(call.element_bytes, [&]<class T>(T) {
    auto* const move = call.operation == Operation::kIput ? iput<Thread, T> : iget<Thread, T>;
    move(ctx, Thread{}, static_cast<T*>(call.dst), static_cast<const T*>(call.src), call.dst_stride,
         call.src_stride, call.count, call.pe);
  });
}

void strided(Runtime& runtime, const StridedCall& call, NativeStream stream) {
  check_reached(runtime, call.pe);
  if (call.count == 0) return;
  check_element(call.element_bytes);
  const StridedEnds ends = ends_of(call);
  check_place(runtime, ends.there, ends.bytes_there, call.pe);
  check_word(runtime, ends.there, call.element_bytes, call.pe);
  check_here(runtime, ends.here, ends.bytes_here);
  Gpu& gpu = *runtime.device->gpu;
  if (gpu.is_cpu())
    return call_on_stream(runtime, stream, [=](const Context& ctx) { move_strided(ctx, call); });
  if (by_kernel::kernels_take(runtime, ends.here, ends.bytes_here) &&
      !is_of_the_host_alone(runtime, ends.there, call.pe))
    return launch(runtime, stream, LibraryKernel::kStrided, call);
  wait_for_what_is_before(gpu, stream);
  const gpu_ops::Strides strides = {call.dst_stride, call.src_stride, call.count,
                                    call.element_bytes};
  auto* const move =
      call.operation == Operation::kIput ? gpu_ops::put_strided : gpu_ops::get_strided;
  move(runtime, call.dst, call.src, strides, call.pe);
}

// ---- Waits and meetings -------------------------------------------------------------------------

// A wait on a stream: a host function on the CPU device. On a GPU it is a kernel of the library
// that runs the same template, because host code cannot look at the heap.
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

// A kernel reads all that a wait names.
void check_is_reached(const Runtime& runtime, const char* what, const void* memory,
                      std::size_t bytes) {
  if (memory != nullptr && !by_kernel::kernels_take(runtime, memory, bytes))
    refuse_unreached(what, memory);
}

void wait(Runtime& runtime, const chime_wait_request& request, NativeStream stream) {
  if (!width_exists(request)) throw Error("", CHIMEX_ERR_INVALID, "elements have 2, 4 or 8 bytes");
  const auto width = static_cast<std::size_t>(request.width);
  WaitCall call = {.operation = named_in(kWaits, request), .value = 0, .request = request};
  if (request.vector == 0) std::memcpy(&call.value, request.values, width);
  if (!runtime.device->gpu->is_cpu()) {
    const std::size_t bytes = CHIME_BYTES(request.count, width);
    check_is_reached(runtime, "elements", request.elements, bytes);
    check_is_reached(runtime, "status", request.skip, CHIME_BYTES(request.count, sizeof(int)));
    if (request.vector != 0) check_is_reached(runtime, "values", request.values, bytes);
  }
  on_stream(runtime, stream, LibraryKernel::kWait, call,
            [=](const Context& ctx) { wait_all(ctx, call); });
}

void quiet(Runtime& runtime, NativeStream stream) {
  if (!runtime.device->posts()) return;
  on_stream(runtime, stream, LibraryKernel::kSync, SyncCall{Operation::kQuiet}, chime::quiet);
}

void meet_on_stream(Runtime& runtime, const SyncCall& call, NativeStream stream) {
  known_team(runtime, call.operation, call.team);
  on_stream(runtime, stream, LibraryKernel::kSync, call,
            [=](const Context& ctx) { meet(ctx, call); });
}

void collect_on_stream(Runtime& runtime, const chime_collective_request& request,
                       NativeStream stream) {
  check_collective(runtime, request);
  const CollectCall call = {request};
  on_stream(runtime, stream, LibraryKernel::kCollect, call,
            [=](const Context& ctx) { collect(ctx, Thread{}, call.request); });
}

// One exported operation. Errors that kernels have recorded are reported: before it, where that
// ends the program, else after it, because other PEs wait for its data.
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

void chimex_getmem_nbi_on_stream(void* dst, const void* src, size_t bytes, int pe,
                                 chimex_stream_t stream) {
  operation("chimex_getmem_nbi_on_stream", [=](Runtime& runtime) {
    get(runtime, move_of(Operation::kGet, dst, src, bytes, pe), stream);
  });
}

void chime_host_p_on_stream(void* dst, const void* value, size_t bytes, int pe,
                            chimex_stream_t stream) {
  operation("chimex_p_on_stream",
            [=](Runtime& runtime) { put_element(runtime, dst, value, bytes, pe, stream); });
}

void chime_host_g_on_stream(void* value, const void* src, size_t bytes, int pe,
                            chimex_stream_t stream) {
  operation("chimex_g_on_stream",
            [=](Runtime& runtime) { get_element(runtime, value, src, bytes, pe, stream); });
}

void chime_host_iput_on_stream(void* dst, const void* src, ptrdiff_t dst_stride,
                               ptrdiff_t src_stride, size_t count, size_t element_bytes, int pe,
                               chimex_stream_t stream) {
  operation("chimex_iput_on_stream", [=](Runtime& runtime) {
    strided(
        runtime,
        strided_of(Operation::kIput, dst, src, {dst_stride, src_stride, count, element_bytes}, pe),
        stream);
  });
}

void chime_host_iget_on_stream(void* dst, const void* src, ptrdiff_t dst_stride,
                               ptrdiff_t src_stride, size_t count, size_t element_bytes, int pe,
                               chimex_stream_t stream) {
  operation("chimex_iget_on_stream", [=](Runtime& runtime) {
    strided(
        runtime,
        strided_of(Operation::kIget, dst, src, {dst_stride, src_stride, count, element_bytes}, pe),
        stream);
  });
}

void chime_host_wait_on_stream(const chime_wait_request* request, chimex_stream_t stream) {
  constexpr const char* kNames[] = {"chimex_wait_until_all_on_stream",
                                    "chimex_wait_until_all_vector_on_stream"};
  operation(request->mode == CHIME_WAIT_ONE ? "chimex_wait_until_on_stream"
                                            : kNames[request->vector != 0],
            [=](Runtime& runtime) { wait(runtime, *request, stream); });
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
  operation("chimex_barrier_all_on_stream",
            [=](Runtime& runtime) { meet_on_stream(runtime, {Operation::kBarrierAll}, stream); });
}

void chimex_sync_all_on_stream(chimex_stream_t stream) {
  operation("chimex_sync_all_on_stream",
            [=](Runtime& runtime) { meet_on_stream(runtime, {Operation::kSyncAll}, stream); });
}

int chimex_barrier_on_stream(chime_team_t team, chimex_stream_t stream) {
  return team_operation("chimex_barrier_on_stream", [=](Runtime& runtime) {
    meet_on_stream(runtime, {Operation::kBarrier, team}, stream);
  });
}

int chime_host_collective_on_stream(const chime_collective_request* request,
                                    chimex_stream_t stream) {
  const chime_collective_request asked = *request;
  return team_operation("a collective on a stream",
                        [=](Runtime& runtime) { collect_on_stream(runtime, asked, stream); });
}

int chimex_team_sync_on_stream(chime_team_t team, chimex_stream_t stream) {
  return team_operation("chimex_team_sync_on_stream", [=](Runtime& runtime) {
    meet_on_stream(runtime, {Operation::kTeamSync, team}, stream);
  });
}

}  // extern "C"
