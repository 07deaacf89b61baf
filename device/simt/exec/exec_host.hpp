// exec on the CPU, host side: launching kernels, streams, events, memory, the device's properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "chime/abi/launch_status.h"
#include "chime/device/simt/exec/cuda_names.hpp"
#include "chime/device/simt/exec/export.hpp"
#include "chime/error.h"

namespace chime::simt {

class Stream;
class Event;

// A kernel with its arguments, as each of its threads calls it.
class KernelCall {
 public:
  virtual ~KernelCall() = default;
  virtual void run_thread() const = 0;
  virtual const void* address() const = 0;  // the kernel's function
  // For reports; valid for ever. Null: the dynamic linker's name of the function is used.
  virtual const char* name() const { return nullptr; }
  // A thread has trapped; `words` name it and the reason. True: the launch is abandoned (as by
  // end_kernel), and its caller knows; false: the process ends with a report.
  virtual bool take_trap(const char* words) const {
    static_cast<void>(words);
    return false;
  }
};

template <class... P>
class TypedKernelCall final : public KernelCall {
 public:
  template <class... A>
  explicit TypedKernelCall(void (*kernel)(P...), A&&... arguments)
      : kernel_(kernel), arguments_(std::forward<A>(arguments)...) {}
  void run_thread() const override { std::apply(kernel_, arguments_); }
  const void* address() const override { return reinterpret_cast<const void*>(kernel_); }

 private:
  void (*kernel_)(P...);
  std::tuple<P...> arguments_;
};

}  // namespace chime::simt

namespace chime::exec {

using Status = chimex_status;

// Null: the default stream of the calling host thread. Each thread has its own, so that PEs that
// are threads do not queue behind each other.
using Stream = simt::Stream*;
using Event = simt::Event*;

struct LaunchConfig {
  dim3 grid{1}, block{1};
  std::size_t shared_bytes = 0;
  Stream stream = {};
  bool cooperative = false;
};

struct DeviceProps {
  char name[64];
  int multiprocessors, max_blocks_per_multiprocessor, max_threads_per_block;
  std::size_t shared_bytes_per_block;
  bool is_cpu;  // threads of a block take turns on one core
};

}  // namespace chime::exec

namespace chime::simt {

CHIME_SIMT_EXPORT exec::LaunchStatus launch_call(const exec::LaunchConfig& config,
                                                 std::unique_ptr<const KernelCall> call);

// ---- Kernels launched by address ------------------------------------------------------------

using MakeCall = std::unique_ptr<const KernelCall> (*)(const void* kernel, void** arguments);
CHIME_SIMT_EXPORT bool register_kernel(const void* kernel, MakeCall make_call);

template <class... P>
bool register_typed_kernel(void (*kernel)(P...)) {
  const MakeCall make_call = [](const void* address, void** arguments) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->std::unique_ptr<const KernelCall> {
      return std::make_unique<TypedKernelCall<P...>>(
          reinterpret_cast<void (*)(P...)>(const_cast<void*>(address)),
          *static_cast<const std::remove_cv_t<P>*>(arguments[I])...);
    }
    (std::index_sequence_for<P...>{});
  };
  return register_kernel(reinterpret_cast<const void*>(kernel), make_call);
}

CHIME_SIMT_EXPORT exec::Status max_cooperative_blocks(int threads, std::size_t shared_bytes,
                                                      int* blocks);

}  // namespace chime::simt

namespace chime::exec {

// ---- Launch ---------------------------------------------------------------------------------

// Queues `kernel(arguments...)` on config.stream and returns. CHIMEX_ERR_LAUNCH if the device can
// never run it: too many threads per block, too much shared memory, a cooperative grid that does
// not fit (last_error() has the message). A failure that the program checks neither here nor by
// last_error() is printed where the host next synchronises.
template <class... P, class... A>
LaunchStatus launch(const LaunchConfig& config, void (*kernel)(P...), A&&... arguments) {
  return simt::launch_call(
      config, std::make_unique<simt::TypedKernelCall<P...>>(kernel, std::forward<A>(arguments)...));
}

// The same for a kernel that is known only by its address, registered with CHIME_REGISTER_KERNEL.
CHIME_SIMT_EXPORT LaunchStatus launch_erased(const LaunchConfig& config, const void* kernel,
                                             void** arguments);

// A launch in the form of CUDA's cudaLaunchConfig_t, without attributes: the CPU has none.
struct NativeLaunchConfig {
  dim3 gridDim{1}, blockDim{1};
  std::size_t dynamicSmemBytes = 0;
  Stream stream = {};
  const void* attrs = nullptr;
  unsigned numAttrs = 0;
};

// A cooperative launch of this form. CHIMEX_ERR_UNSUPPORTED if it has attributes.
CHIME_SIMT_EXPORT LaunchStatus launch_cooperative(const NativeLaunchConfig& config,
                                                  const void* kernel, void** arguments);

// The largest cooperative grid that is sensible here. (CHIME_SIMT_RESIDENT is the largest
// possible.)
template <class... P>
Status max_cooperative_blocks(void (*)(P...), int threads, std::size_t shared_bytes, int* blocks) {
  return simt::max_cooperative_blocks(threads, shared_bytes, blocks);
}

// ---- Streams and events ---------------------------------------------------------------------

// Work of a stream runs in order, streams run at the same time. Calls that wait must not be made
// from a kernel or a stream_host_call.
CHIME_SIMT_EXPORT Status stream_create(Stream* stream);
CHIME_SIMT_EXPORT Status stream_destroy(Stream stream);  // queued work still runs
CHIME_SIMT_EXPORT Status stream_synchronize(Stream stream);
CHIME_SIMT_EXPORT Status device_synchronize();  // all streams of the process
CHIME_SIMT_EXPORT Status stream_host_call(Stream stream, void (*call)(void*), void* argument);

// stream_write64: *address = value when the work before it is done and visible. stream_wait64_geq:
// waits until *address >= value (cyclically, as unsigned).
CHIME_SIMT_EXPORT Status stream_write64(Stream stream, std::uint64_t* address, std::uint64_t value);
CHIME_SIMT_EXPORT Status stream_wait64_geq(Stream stream, const std::uint64_t* address,
                                           std::uint64_t value);

CHIME_SIMT_EXPORT Status event_create(Event* event);
CHIME_SIMT_EXPORT Status event_destroy(Event event);
CHIME_SIMT_EXPORT Status event_record(Event event, Stream stream);
CHIME_SIMT_EXPORT Status event_synchronize(Event event);
CHIME_SIMT_EXPORT Status event_elapsed_ms(Event start, Event end, float* ms);
CHIME_SIMT_EXPORT Status stream_wait_event(Stream stream, Event event);

// ---- Memory ---------------------------------------------------------------------------------

CHIME_SIMT_EXPORT Status device_malloc(void** address, std::size_t bytes);  // 512-byte aligned
CHIME_SIMT_EXPORT Status device_free(void* address);
CHIME_SIMT_EXPORT Status copy_async(void* dst, const void* src, std::size_t bytes, Stream stream);
CHIME_SIMT_EXPORT Status copy(void* dst, const void* src, std::size_t bytes);  // default stream
CHIME_SIMT_EXPORT Status set_async(void* dst, int byte, std::size_t bytes, Stream stream);

// ---- Device ---------------------------------------------------------------------------------

CHIME_SIMT_EXPORT int device_count();
CHIME_SIMT_EXPORT Status device_props(int device, DeviceProps* props);
CHIME_SIMT_EXPORT Status set_device(int device);

// The message of the calling thread's last host call that returned an error.
CHIME_SIMT_EXPORT const char* last_error();

}  // namespace chime::exec
