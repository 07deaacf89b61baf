#include "gpu_on_cpu.hpp"

#include <atomic>
#include <utility>

#include "host/ops/library_kernels.cu"
#include "host/pe/pe.hpp"

namespace chime::host {
namespace {

std::atomic<int> launched{0};

// A launch as the driver keeps it: the arguments are copied.
struct Launch {
  LibraryKernel kernel;
  Context context;
  union {
    SignalWaitCall wait;
    SyncCall sync;
    AmoCall amo;
    SignalCall signal;
  };

  Launch(LibraryKernel which, void** arguments) : kernel(which), signal{} {
    void* const call = which == LibraryKernel::kSignal ? arguments[0] : arguments[1];
    if (which != LibraryKernel::kSignal) context = *static_cast<Context*>(arguments[0]);
    if (which == LibraryKernel::kSignal) signal = *static_cast<SignalCall*>(call);
    if (which == LibraryKernel::kSignalWait) wait = *static_cast<SignalWaitCall*>(call);
    if (which == LibraryKernel::kSync) sync = *static_cast<SyncCall*>(call);
    if (which == LibraryKernel::kAmo) amo = *static_cast<AmoCall*>(call);
  }

  void run() {
    if (kernel == LibraryKernel::kSignal) chime_library_signal(signal);
    if (kernel == LibraryKernel::kSignalWait) chime_library_signal_wait(context, wait);
    if (kernel == LibraryKernel::kSync) chime_library_sync(context, sync);
    if (kernel == LibraryKernel::kAmo) chime_library_amo(context, amo);
  }
};

class GpuOnCpu final : public Gpu {
 public:
  explicit GpuOnCpu(std::unique_ptr<Gpu> cpu) : cpu_(std::move(cpu)) {}

  std::string describe() const override { return "a GPU that is the " + cpu_->describe(); }
  bool is_cpu() const override { return false; }
  bool orders_device_writes() const override { return false; }
  std::string pci_address() const override { return {}; }
  std::unique_ptr<DeviceMemory> allocate_heap(std::size_t bytes) override {
    std::unique_ptr<DeviceMemory> memory = cpu_->allocate_heap(bytes);
    cpu_->set(memory->address(), kUsedBefore, bytes);
    return memory;
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(int fd, std::size_t bytes) override {
    return cpu_->map_peer_heap(fd, bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(const std::byte* handle, std::size_t n) override {
    return cpu_->map_peer_heap(handle, n);
  }
  std::unique_ptr<DeviceMemory> allocate_host_visible(std::size_t bytes) override {
    return cpu_->allocate_host_visible(bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_device(std::size_t bytes) override {
    return cpu_->allocate_device(bytes);
  }
  std::unique_ptr<IoMapping> map_io_memory(std::byte* pages, std::size_t bytes) override {
    return cpu_->map_io_memory(pages, bytes);
  }
  DmaBuf export_dma_buf(const std::byte* memory, std::size_t bytes) override {
    return cpu_->export_dma_buf(memory, bytes);
  }
  void copy(void* dst, const void* src, std::size_t bytes) override { cpu_->copy(dst, src, bytes); }
  void set(void* dst, int byte, std::size_t bytes) override { cpu_->set(dst, byte, bytes); }
  void signal(std::uint64_t* address, std::uint64_t value, bool add) override {
    SignalCall call{address, value, add};
    void* arguments[] = {&call};
    launch(LibraryKernel::kSignal, arguments);
  }
  void launch(LibraryKernel kernel, void** arguments) override {
    ++launched;
    Launch(kernel, arguments).run();
  }
  void copy_async(void* dst, const void* src, std::size_t bytes, NativeStream stream) override {
    cpu_->copy_async(dst, src, bytes, stream);
  }
  void signal_async(std::uint64_t* address, std::uint64_t value, bool add,
                    NativeStream stream) override {
    SignalCall call{address, value, add};
    void* arguments[] = {&call};
    launch_async(LibraryKernel::kSignal, arguments, stream);
  }
  void launch_async(LibraryKernel kernel, void** arguments, NativeStream stream) override {
    ++launched;
    cpu_->host_call_async(
        [](void* launch) { std::unique_ptr<Launch>(static_cast<Launch*>(launch))->run(); },
        new Launch(kernel, arguments), stream);
  }
  void host_call_async(void (*call)(void*), void* argument, NativeStream stream) override {
    cpu_->host_call_async(call, argument, stream);
  }
  void synchronize(NativeStream stream) override { cpu_->synchronize(stream); }
  bool wait_for_all_work(int pe, std::chrono::steady_clock::time_point deadline) override {
    return cpu_->wait_for_all_work(pe, deadline);
  }

 private:
  std::unique_ptr<Gpu> cpu_;
};

}  // namespace

std::unique_ptr<Gpu> open_gpu_on_cpu() { return std::make_unique<GpuOnCpu>(open_simt_gpu()); }

void pretend_to_have_a_gpu() {
  std::unique_ptr<Gpu>& gpu = current_runtime().device->gpu;
  gpu = std::make_unique<GpuOnCpu>(std::move(gpu));
}

int library_kernels_launched() { return launched; }

void run_library_kernel(LibraryKernel kernel, void** arguments) { Launch(kernel, arguments).run(); }

}  // namespace chime::host
