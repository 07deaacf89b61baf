// The host side of exec: checks its arguments, and queues the work on a stream.
#include "chime/device/simt/exec/exec_host.hpp"

#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/launch/host_calls.hpp"
#include "chime/device/simt/launch/launcher.hpp"
#include "chime/device/simt/launch/options.hpp"
#include "chime/device/simt/launch/stream.hpp"
#include "chime/device/simt/launch/unfinished_work.hpp"
#include "chime/device/simt/threads/grid.hpp"
#include "chime/device/simt/threads/make_room.hpp"
#include "chime/device/simt/threads/thread.hpp"
#include "chime/device/simt/threads/thread_set.hpp"

namespace chime::simt {

namespace {

using exec::Status;

constexpr std::size_t kSharedBytesPerBlock = 227 * 1024;  // an H100's
constexpr int kMaxBlocksPerMultiprocessor = 2;
constexpr std::size_t kAllocationAlignment = 512;

thread_local std::string error_text;
thread_local const Context* host_thread_context = nullptr;

__attribute__((format(printf, 2, 3))) Status fail(Status status, const char* format, ...) {
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  error_text = text;
  return status;
}

int multiprocessors() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2u, 64u));
}

bool in_kernel() { return current_thread != nullptr; }

Status check_launch(const exec::LaunchConfig& config) {
  const exec::dim3 &grid = config.grid, &block = config.block;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (threads == 0 || threads > kMaxBlockThreads) {
    return fail(CHIMEX_ERR_LAUNCH, "a block of %u x %u x %u threads: 1 to %u are possible", block.x,
                block.y, block.z, kMaxBlockThreads);
  }
  if (blocks == 0) {
    return fail(CHIMEX_ERR_LAUNCH, "a grid of %u x %u x %u blocks is empty", grid.x, grid.y,
                grid.z);
  }
  if (config.shared_bytes > kSharedBytesPerBlock) {
    return fail(CHIMEX_ERR_LAUNCH, "%zu bytes of dynamic shared memory: at most %zu are possible",
                config.shared_bytes, kSharedBytesPerBlock);
  }
  const unsigned resident = options().resident_blocks;
  if (config.cooperative && blocks > resident) {
    return fail(CHIMEX_ERR_LAUNCH,
                "a cooperative grid of %llu blocks: %u can be resident (CHIME_SIMT_RESIDENT)",
                static_cast<unsigned long long>(blocks), resident);
  }
  return CHIMEX_OK;
}

// Queues `work` on the stream that `handle` names.
Status enqueue(exec::Stream handle, std::function<void()> work) {
  if (in_kernel()) return fail(CHIMEX_ERR_INVALID, "a stream operation was called in a kernel");
  const std::shared_ptr<Stream> stream = find_stream(handle);
  if (!stream) return fail(CHIMEX_ERR_INVALID, "%p is not a stream", static_cast<void*>(handle));
  const int pe = pe_of_thread();
  work_is_queued(pe);
  stream->enqueue([pe, work = std::move(work)]() mutable {
    work();
    work = nullptr;  // destroys its arguments before the PE may leave
    work_has_ended(pe);
  });
  return CHIMEX_OK;
}

// ---- Kernels by address ---------------------------------------------------------------------

struct Kernels {
  std::mutex mutex;
  std::unordered_map<const void*, MakeCall> make_call;
};

Kernels& kernels() { return immortal<Kernels>(); }

MakeCall find_kernel(const void* kernel) {
  const std::lock_guard lock(kernels().mutex);
  const auto found = kernels().make_call.find(kernel);
  return found == kernels().make_call.end() ? nullptr : found->second;
}

// Ends without its event when the PE that queued the wait is aborted.
void wait_for_value(const std::uint64_t* address, std::uint64_t value, const Context* context) {
  constexpr int kAwake = 2'000;
  for (int turn = 0;; ++turn) {
    const std::uint64_t seen = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    if (static_cast<std::int64_t>(seen - value) >= 0 || is_aborted(context)) return;
    if (turn < kAwake) {
      simt::make_room();
    } else {
      const timespec nap{0, 50'000};
      nanosleep(&nap, nullptr);
    }
  }
}

}  // namespace

void set_thread_context(const Context* context) { host_thread_context = context; }

const Context* thread_context() {
  return host_thread_context ? host_thread_context : context_of_thread();
}

// ---- Launch ---------------------------------------------------------------------------------

exec::LaunchStatus launch_call(const exec::LaunchConfig& config,
                               std::unique_ptr<const KernelCall> call) {
  if (const Status status = check_launch(config)) return {status, error_text.c_str()};
  auto launch = std::make_shared<Launch>(config, *call, thread_context(), options());
  const Status status =
      enqueue(config.stream,
              [launch = std::move(launch),
               call = std::shared_ptr<const KernelCall>(std::move(call))] { run_launch(launch); });
  return {status, error_text.c_str()};
}

bool register_kernel(const void* kernel, MakeCall make_call) {
  const std::lock_guard lock(kernels().mutex);
  kernels().make_call[kernel] = make_call;
  return true;
}

Status max_cooperative_blocks(int threads, std::size_t shared_bytes, int* blocks) {
  *blocks = 0;
  if (threads < 1 || threads > static_cast<int>(kMaxBlockThreads)) {
    return fail(CHIMEX_ERR_INVALID, "a block of %d threads: 1 to %u are possible", threads,
                kMaxBlockThreads);
  }
  if (shared_bytes > kSharedBytesPerBlock) return CHIMEX_OK;
  *blocks = std::min(multiprocessors() * kMaxBlocksPerMultiprocessor,
                     static_cast<int>(options().resident_blocks));
  return CHIMEX_OK;
}

}  // namespace chime::simt

namespace chime::exec {

using simt::enqueue;
using simt::fail;
using simt::in_kernel;

LaunchStatus launch_erased(const LaunchConfig& config, const void* kernel, void** arguments) {
  const simt::MakeCall make_call = simt::find_kernel(kernel);
  if (!make_call) {
    const Status status = fail(
        CHIMEX_ERR_LAUNCH, "%p is not a registered kernel: CHIME_REGISTER_KERNEL(kernel)", kernel);
    return {status, simt::error_text.c_str()};
  }
  return simt::launch_call(config, make_call(kernel, arguments));
}

LaunchStatus launch_cooperative(const NativeLaunchConfig& config, const void* kernel,
                                void** arguments) {
  if (config.numAttrs != 0) {
    const Status status = fail(CHIMEX_ERR_UNSUPPORTED,
                               "the CPU device knows no launch attributes, and %u are given; "
                               "leave attrs and numAttrs at 0",
                               config.numAttrs);
    return {status, simt::error_text.c_str()};
  }
  return launch_erased({.grid = config.gridDim,
                        .block = config.blockDim,
                        .shared_bytes = config.dynamicSmemBytes,
                        .stream = config.stream,
                        .cooperative = true},
                       kernel, arguments);
}

// ---- Streams --------------------------------------------------------------------------------

Status stream_create(Stream* stream) {
  *stream = simt::add_stream();
  return CHIMEX_OK;
}

Status stream_destroy(Stream stream) {
  if (stream && simt::remove_stream(stream)) return CHIMEX_OK;
  return fail(CHIMEX_ERR_INVALID, "%p is not a stream that can be destroyed",
              static_cast<void*>(stream));
}

Status stream_synchronize(Stream handle) {
  if (in_kernel()) return fail(CHIMEX_ERR_INVALID, "stream_synchronize was called in a kernel");
  const std::shared_ptr<simt::Stream> stream = simt::find_stream(handle);
  if (!stream) return fail(CHIMEX_ERR_INVALID, "%p is not a stream", static_cast<void*>(handle));
  const simt::HostCall call("exec::stream_synchronize");
  detail::tell_unseen_launch_errors();
  stream->synchronize();
  return CHIMEX_OK;
}

Status device_synchronize() {
  if (in_kernel()) return fail(CHIMEX_ERR_INVALID, "device_synchronize was called in a kernel");
  const simt::HostCall call("exec::device_synchronize");
  detail::tell_unseen_launch_errors();
  simt::for_each_stream([](simt::Stream& stream) { stream.synchronize(); });
  return CHIMEX_OK;
}

Status stream_host_call(Stream stream, void (*call)(void*), void* argument) {
  return enqueue(stream, [=] { call(argument); });
}

Status stream_write64(Stream stream, std::uint64_t* address, std::uint64_t value) {
  return enqueue(stream, [=] { __atomic_store_n(address, value, __ATOMIC_RELEASE); });
}

Status stream_wait64_geq(Stream stream, const std::uint64_t* address, std::uint64_t value) {
  const Context* context = simt::thread_context();
  return enqueue(stream, [=] { simt::wait_for_value(address, value, context); });
}

// ---- Events ---------------------------------------------------------------------------------

// A handle owns one reference; queued work holds others, so that destroying an event early is
// harmless.
struct EventHandle {
  std::shared_ptr<simt::Event> event = simt::Event::create();
};

namespace {
// Null for no event.
std::shared_ptr<simt::Event> event_of(Event handle) {
  return handle ? reinterpret_cast<EventHandle*>(handle)->event : nullptr;
}

Status fail_without_event(const char* function) {
  return fail(CHIMEX_ERR_INVALID, "%s: the event is null", function);
}
}  // namespace

Status event_create(Event* event) {
  *event = reinterpret_cast<Event>(new EventHandle);
  return CHIMEX_OK;
}

Status event_destroy(Event event) {
  delete reinterpret_cast<EventHandle*>(event);
  return CHIMEX_OK;
}

Status event_record(Event handle, Stream stream) {
  const auto event = event_of(handle);
  if (!event) return fail_without_event("event_record");
  const std::uint64_t record = event->will_record();
  return enqueue(stream, [=] { event->recorded(record); });
}

Status event_synchronize(Event handle) {
  const auto event = event_of(handle);
  if (!event) return fail_without_event("event_synchronize");
  const simt::HostCall call("exec::event_synchronize");
  detail::tell_unseen_launch_errors();
  event->wait_for(event->latest());
  return CHIMEX_OK;
}

Status event_elapsed_ms(Event start, Event end, float* ms) {
  const auto first = event_of(start), last = event_of(end);
  if (!first || !last) return fail_without_event("event_elapsed_ms");
  const std::uint64_t from = first->time(), to = last->time();
  if (!from || !to) {
    return fail(CHIMEX_ERR_INVALID,
                "event_elapsed_ms: an event is not recorded or not reached yet");
  }
  *ms = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-6);
  return CHIMEX_OK;
}

Status stream_wait_event(Stream stream, Event handle) {
  const auto event = event_of(handle);
  if (!event) return fail_without_event("stream_wait_event");
  const std::uint64_t record = event->latest();
  return enqueue(stream, [=] { event->wait_for(record); });
}

// ---- Memory ---------------------------------------------------------------------------------

Status device_malloc(void** address, std::size_t bytes) {
  constexpr std::size_t kAlign = simt::kAllocationAlignment;
  *address = std::aligned_alloc(kAlign, std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign));
  if (*address) return CHIMEX_OK;
  return fail(CHIMEX_ERR_OUT_OF_MEMORY, "the system has no %zu bytes", bytes);
}

Status device_free(void* address) {
  std::free(address);
  return CHIMEX_OK;
}

Status copy_async(void* dst, const void* src, std::size_t bytes, Stream stream) {
  return enqueue(stream, [=] { std::memmove(dst, src, bytes); });
}

Status copy(void* dst, const void* src, std::size_t bytes) {
  if (const Status status = copy_async(dst, src, bytes, {})) return status;
  return stream_synchronize({});
}

Status set_async(void* dst, int byte, std::size_t bytes, Stream stream) {
  return enqueue(stream, [=] { std::memset(dst, byte, bytes); });
}

// ---- Device ---------------------------------------------------------------------------------

int device_count() { return 1; }

Status device_props(int device, DeviceProps* props) {
  if (device != 0) return fail(CHIMEX_ERR_INVALID, "device %d: there is one, number 0", device);
  *props = {};
  std::snprintf(props->name, sizeof props->name, "CPU (SIMT executor, %u processors)",
                std::thread::hardware_concurrency());
  props->multiprocessors = simt::multiprocessors();
  props->max_blocks_per_multiprocessor = simt::kMaxBlocksPerMultiprocessor;
  props->max_threads_per_block = static_cast<int>(simt::kMaxBlockThreads);
  props->shared_bytes_per_block = simt::kSharedBytesPerBlock;
  props->is_cpu = true;
  return CHIMEX_OK;
}

Status set_device(int device) {
  if (device == 0) return CHIMEX_OK;
  return fail(CHIMEX_ERR_INVALID, "device %d: there is one, number 0", device);
}

const char* last_error() {
  detail::launch_errors_are_asked_for();
  return simt::error_text.c_str();
}

}  // namespace chime::exec
