#include "host/gpu/cuda_gpu.hpp"

#include <cctype>
#include <future>
#include <thread>
#include <utility>

#include "chime/abi/signals_held.h"
#include "host/errors/error.hpp"
#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/cuda/late_loading.hpp"
#include "host/gpu/cuda/library_kernels.hpp"
#include "host/gpu/cuda/memory.hpp"
#include "host/gpu/cuda/multicast.hpp"
#include "host/gpu/cuda/queue.hpp"

namespace chime::host {
namespace {

using cuda::CurrentContext;
using cuda::driver;

CUdeviceptr device_pointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }
// Null: the calling thread's, as in device/exec/exec_cuda_host.cuh.
CUstream native(NativeStream stream) {
  return stream ? static_cast<CUstream>(stream) : CU_STREAM_PER_THREAD;
}

int device_count() {
  int count = 0;
  driver().check(driver().cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0)
    throw Error("CUDA", CHIMEX_ERR_UNSUPPORTED,
                "the driver sees no GPU (CUDA_VISIBLE_DEVICES may hide it)");
  return count;
}

CUdevice device_at(int ordinal) {
  device_count();
  CUdevice device = 0;
  driver().check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
  return device;
}

std::string address_of(CUdevice device) {
  char address[32] = "";
  driver().check(driver().cuDeviceGetPCIBusId(address, sizeof address, device),
                 "cuDeviceGetPCIBusId");
  // sysfs writes them in lower case.
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

// The context that the CUDA runtime of the program uses too. The calling thread's own one from here
// on, if it has none. Kept until the process ends, as the runtime keeps it: what the program has
// made in it is there after finalize, and so is what another PE of this process has mapped.
CUcontext primary_context(CUdevice device) {
  const cuda::UncapturedCalls uncaptured;
  CUcontext context = nullptr;
  driver().check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain",
                 "the GPU may be in exclusive mode or out of memory (nvidia-smi)");
  CUdevice current = 0;
  if (driver().cuCtxGetDevice(&current) != CUDA_SUCCESS) driver().cuCtxSetCurrent(context);
  return context;
}

// A stream that waits for no other: host copies must end while kernels run that wait for them.
class OwnStream {
 public:
  explicit OwnStream(CUcontext context) : context_(context) {
    const CurrentContext current(context_);
    driver().check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    const CurrentContext current(context_);
    driver().cuStreamDestroy(stream_);
  }

  CUstream get() const { return stream_; }

 private:
  CUcontext context_;
  CUstream stream_ = nullptr;
};

class EventMark final : public StreamMark {
 public:
  explicit EventMark(CUcontext context) : context_(context) {
    const CurrentContext current(context_);
    driver().check(driver().cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  EventMark(const EventMark&) = delete;
  EventMark& operator=(const EventMark&) = delete;
  ~EventMark() override {
    const CurrentContext current(context_);
    driver().cuEventDestroy(event_);
  }

  void set(NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(driver().cuEventRecord(event_, native(stream)), "cuEventRecord");
  }
  bool is_reached() override {
    const CurrentContext current(context_);
    const CUresult result = driver().cuEventQuery(event_);
    if (result != CUDA_ERROR_NOT_READY) driver().check(result, "cuEventQuery");
    return result == CUDA_SUCCESS;
  }
  void hold(NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(driver().cuStreamWaitEvent(native(stream), event_, 0), "cuStreamWaitEvent");
  }

 private:
  CUcontext context_;
  CUevent event_ = nullptr;
};

class CudaGpu final : public Gpu {
 public:
  CudaGpu(CUdevice device, std::string why)
      : device_(device),
        why_(std::move(why)),
        context_(primary_context(device)),
        streams_write_64_bits_(
            driver().attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) != 0),
        copy_stream_(context_),
        kernel_stream_(context_),
        kernels_(context_) {}

  std::string describe() const override {
    char name[96] = "";
    int version = 0;
    driver().check(driver().cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
    driver().check(driver().cuDriverGetVersion(&version), "cuDriverGetVersion");
    return std::string(name) + " (CUDA device " + std::to_string(device_) + ", driver for CUDA " +
           std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ")" +
           (why_.empty() ? "" : ": " + why_);
  }
  bool is_cpu() const override { return false; }
  // Whether other GPUs find it, too, does not matter: kernels of this one read it.
  bool orders_device_writes() const override {
    return driver().attribute(device_, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING) >=
           CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER;
  }
  std::string pci_address() const override { return address_of(device_); }
  void with_device(const std::function<void()>& body) override {
    const CurrentContext current(context_);
    body();
  }

  std::unique_ptr<DeviceMemory> allocate_heap(std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::create_exportable(place(), bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(int fd, std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::import_fd(place(), fd, bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(const std::byte* fabric_handle,
                                              std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::import_fabric(place(), fabric_handle, bytes);
  }
  void share_mapping(const DeviceMemory& memory) override {
    const CurrentContext current(context_);
    cuda::grant_access(place(), memory.address(), memory.bytes());
  }
  std::string why_no_multicast(const DeviceMemory& heap, unsigned gpus) override {
    const CurrentContext current(context_);
    return cuda::why_no_multicast(place(), heap, gpus);
  }
  std::unique_ptr<Multicast> create_multicast(std::size_t bytes, unsigned gpus) override {
    const CurrentContext current(context_);
    return cuda::create_multicast(place(), bytes, gpus);
  }
  std::unique_ptr<Multicast> join_multicast(int fd, std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::join_multicast(place(), fd, bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_host_visible(std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::create_host_visible(place(), bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_device(std::size_t bytes) override {
    const CurrentContext current(context_);
    std::unique_ptr<DeviceMemory> memory = cuda::create_private(place(), bytes);
    set(memory->address(), 0, bytes);
    return memory;
  }
  std::unique_ptr<IoMapping> map_io_memory(std::byte* pages, std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::map_io_memory(place(), pages, bytes);
  }
  DmaBuf export_dma_buf(const std::byte* memory, std::size_t bytes) override {
    const CurrentContext current(context_);
    return cuda::export_dma_buf(place(), memory, bytes);
  }

  bool kernels_reach(const void* memory) override {
    const CurrentContext current(context_);
    CUdeviceptr seen = 0;
    const CUresult result = driver().cuPointerGetAttribute(
        &seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, device_pointer(memory));
    return result == CUDA_SUCCESS && seen == device_pointer(memory);
  }

  std::optional<ModuleVariable> find_variable(const ProgramModule& module,
                                              const char* name) override {
    const CurrentContext current(context_);
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const bool is_library = module.kind == ProgramModule::Kind::kLibrary;
    const CUresult result = is_library
                                ? driver().cuLibraryGetGlobal(
                                      &address, &bytes, static_cast<CUlibrary>(module.handle), name)
                                : driver().cuModuleGetGlobal(
                                      &address, &bytes, static_cast<CUmodule>(module.handle), name);
    if (result == CUDA_ERROR_NOT_FOUND) return std::nullopt;
    driver().check(result, is_library ? "cuLibraryGetGlobal" : "cuModuleGetGlobal",
                   "it may have been unloaded, or never loaded");
    check_is_here(address);
    return ModuleVariable{reinterpret_cast<std::byte*>(address), bytes};
  }

  void load_kernels(const ProgramModule& module) override {
    const CurrentContext current(context_);
    cuda::load_kernels(module);
  }
  void load_kernels_beside(void* kernel) override {
    const CurrentContext current(context_);
    cuda::load_kernels_beside(static_cast<CUfunction>(kernel));
  }

  void copy(void* dst, const void* src, std::size_t bytes) override {
    copy_async(dst, src, bytes, copy_stream_.get());
    synchronize(copy_stream_.get());
  }
  void set(void* dst, int byte, std::size_t bytes) override {
    const CurrentContext current(context_);
    driver().check(driver().cuMemsetD8Async(device_pointer(dst), static_cast<unsigned char>(byte),
                                            bytes, copy_stream_.get()),
                   "cuMemsetD8Async");
    synchronize(copy_stream_.get());
  }

  void signal(std::uint64_t* address, std::uint64_t value, bool add) override {
    signal_async(address, value, add, copy_stream_.get());
    synchronize(copy_stream_.get());
  }
  void launch(LibraryKernel kernel, void** arguments) override {
    launch_async(kernel, arguments, kernel_stream_.get());
    synchronize(kernel_stream_.get());
  }

  void copy_async(void* dst, const void* src, std::size_t bytes, NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(
        driver().cuMemcpyAsync(device_pointer(dst), device_pointer(src), bytes, native(stream)),
        "cuMemcpyAsync");
  }
  void signal_async(std::uint64_t* address, std::uint64_t value, bool add,
                    NativeStream stream) override {
    if (add || !streams_write_64_bits_) {
      SignalCall call{address, value, add};
      void* arguments[] = {&call};
      return launch_async(LibraryKernel::kSignal, arguments, stream);
    }
    const CurrentContext current(context_);
    // The default flag puts a system-wide fence before the write.
    driver().check(driver().cuStreamWriteValue64(native(stream), device_pointer(address), value,
                                                 CU_STREAM_WRITE_VALUE_DEFAULT),
                   "cuStreamWriteValue64");
  }
  void launch_async(LibraryKernel kernel, void** arguments, NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(driver().cuLaunchKernel(kernels_[kernel], 1, 1, 1, threads_of(kernel), 1, 1, 0,
                                           native(stream), arguments, nullptr),
                   "cuLaunchKernel");
  }
  void host_call_async(void (*call)(void*), void* argument, NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(driver().cuLaunchHostFunc(native(stream), call, argument), "cuLaunchHostFunc");
  }
  void synchronize(NativeStream stream) override {
    const CurrentContext current(context_);
    driver().check(driver().cuStreamSynchronize(native(stream)), "cuStreamSynchronize",
                   "a kernel that ran before may have failed");
  }

  bool is_captured(NativeStream stream) override {
    const CurrentContext current(context_);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    driver().check(driver().cuStreamIsCapturing(native(stream), &status), "cuStreamIsCapturing");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
  }
  std::unique_ptr<StreamMark> make_mark() override { return std::make_unique<EventMark>(context_); }
  std::unique_ptr<DeviceQueue> make_queue() override {
    return std::make_unique<cuda::Queue>(context_, kernels_, streams_write_64_bits_);
  }

  // The driver's wait has no bound, so a thread of its own takes it, and stays in it if need be.
  bool wait_for_all_work(int, std::chrono::steady_clock::time_point deadline) override {
    std::promise<void> ended;
    std::future<void> end = ended.get_future();
    const abi::SignalsHeld held;
    std::thread([context = context_, ended = std::move(ended)]() mutable {
      const CurrentContext current(context);
      driver().cuCtxSynchronize();
      ended.set_value();
    }).detach();
    return end.wait_until(deadline) == std::future_status::ready;
  }

 private:
  // Throws Error if another context was current when the variable's module was loaded.
  void check_is_here(CUdeviceptr variable) const {
    CUcontext owner = nullptr;
    int device = -1;
    if (driver().cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, variable) !=
            CUDA_SUCCESS ||
        owner == nullptr || owner == context_)
      return;
    driver().cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, variable);
    throw Error("CUDA", CHIMEX_ERR_INVALID,
                "the module is loaded in another context, on CUDA device " +
                    std::to_string(device) + "; this PE uses the primary context of device " +
                    std::to_string(device_) +
                    ", as the CUDA runtime does: load it with that one "
                    "current (cudaSetDevice)");
  }

  cuda::Place place() const { return {context_, device_}; }

  const CUdevice device_;
  const std::string why_;
  const CUcontext context_;
  const bool streams_write_64_bits_;
  OwnStream copy_stream_;
  OwnStream kernel_stream_;  // whose kernels may wait for peers, and so hold up no copy
  cuda::LibraryKernels kernels_;
};

}  // namespace

std::unique_ptr<Gpu> make_cuda_gpu(int device, const std::string& why) {
  return std::make_unique<CudaGpu>(device_at(device), why);
}

std::vector<std::string> cuda_devices() {
  std::vector<std::string> addresses;
  for (int i = 0, count = device_count(); i < count; ++i)
    addresses.push_back(address_of(device_at(i)));
  return addresses;
}

std::optional<int> chosen_cuda_device() {
  CUdevice device = 0;
  if (driver().cuCtxGetDevice(&device) != CUDA_SUCCESS) return std::nullopt;
  return device;
}

void choose_cuda_device(int device) {
  const int count = device_count();
  if (device < 0 || device >= count)
    throw Error("CUDA", CHIMEX_ERR_INVALID,
                "there is no CUDA device " + std::to_string(device) + "; the driver shows " +
                    std::to_string(count) + ", from 0 on (CUDA_VISIBLE_DEVICES may hide others)");
  driver().check(driver().cuCtxSetCurrent(primary_context(device_at(device))), "cuCtxSetCurrent");
}

bool is_built_with_cuda() { return true; }

std::string why_no_cuda() {
  try {
    device_count();
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace chime::host
