// The CPU device: memory is the system's, copies are memcpy, kernels and streams are the SIMT
// executor's.
#include <atomic>
#include <cstring>
#include <thread>

#include "chime/device/simt/exec/exec_host.hpp"
#include "chime/device/simt/launch/unfinished_work.hpp"
#include "chime/device/simt/memory/memory_kind.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/at_once_queue.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/gpu/factory.hpp"
#include "host/gpu/memfd.hpp"

namespace chime::host {
namespace {

// Kernels run on the processor that has the registers mapped.
class SameAddress final : public IoMapping {
 public:
  SameAddress(std::byte* address, std::size_t bytes)
      : address_(address), marked_(address, bytes, simt::MemoryKind::kBar) {}
  std::byte* address() const override { return address_; }

 private:
  std::byte* const address_;
  const simt::MarkedMemory marked_;
};

class SimtGpu final : public Gpu {
 public:
  std::string describe() const override {
    return "CPU device (SIMT executor, " + std::to_string(std::thread::hardware_concurrency()) +
           " cores)";
  }
  bool is_cpu() const override { return true; }
  bool orders_device_writes() const override { return true; }
  std::string pci_address() const override { return {}; }

  std::unique_ptr<DeviceMemory> allocate_heap(std::size_t bytes) override {
    device_activity::allocates("allocate_heap");
    return create_memfd(kHeapMemory, bytes, kHeapAlignment);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(int fd, std::size_t bytes) override {
    device_activity::allocates("map_peer_heap");
    return map_memfd(fd, MemoryOf::kDevice, bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(const std::byte*, std::size_t) override {
    throw Error("CPU device", CHIMEX_ERR_MISMATCH,
                "a peer offers GPU memory by fabric handle; all PEs need the same CHIME_DEVICE");
  }
  std::unique_ptr<DeviceMemory> allocate_host_visible(std::size_t bytes) override {
    device_activity::allocates("allocate_host_visible");
    return create_memfd(kSharedPages, bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_device(std::size_t bytes) override {
    device_activity::allocates("allocate_device");
    return create_memfd(kKernelTables, bytes);
  }
  std::unique_ptr<IoMapping> map_io_memory(std::byte* pages, std::size_t bytes) override {
    device_activity::allocates("map_io_memory");
    return std::make_unique<SameAddress>(pages, bytes);
  }
  DmaBuf export_dma_buf(const std::byte*, std::size_t) override {
    return {-1, "the CPU device's memory is the host's"};
  }

  bool kernels_reach(const void*) override { return true; }
  std::optional<ModuleVariable> find_variable(const ProgramModule&, const char*) override {
    return std::nullopt;
  }

  void copy(void* dst, const void* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void set(void* dst, int byte, std::size_t bytes) override { std::memset(dst, byte, bytes); }

  void signal(std::uint64_t* address, std::uint64_t value, bool add) override {
    publish(address, value, add);
  }
  void launch(LibraryKernel kernel, void**) override { refuse(kernel); }

  void copy_async(void* dst, const void* src, std::size_t bytes, NativeStream stream) override {
    check(exec::copy_async(dst, src, bytes, as_stream(stream)));
  }

  void signal_async(std::uint64_t* address, std::uint64_t value, bool add,
                    NativeStream stream) override {
    enqueue(stream, [=] { publish(address, value, add); });
  }

  void launch_async(LibraryKernel kernel, void**, NativeStream) override { refuse(kernel); }

  void host_call_async(void (*call)(void*), void* argument, NativeStream stream) override {
    check(exec::stream_host_call(as_stream(stream), call, argument));
  }

  void synchronize(NativeStream stream) override {
    check(exec::stream_synchronize(as_stream(stream)));
  }

  bool is_captured(NativeStream) override { return false; }
  std::unique_ptr<StreamMark> make_mark() override { return nullptr; }
  std::unique_ptr<DeviceQueue> make_queue() override {
    return std::make_unique<AtOnceQueue>(*this);
  }

  bool wait_for_all_work(int pe, std::chrono::steady_clock::time_point deadline) override {
    return simt::wait_for_work_of(pe, deadline);
  }

 private:
  static exec::Stream as_stream(NativeStream stream) { return static_cast<exec::Stream>(stream); }

  [[noreturn]] static void refuse(LibraryKernel kernel) {
    throw Error("CPU device", CHIMEX_ERR_UNSUPPORTED,
                std::string(kLibraryKernelNames[static_cast<int>(kernel)]) +
                    " is a kernel for GPUs; host code does its work here");
  }

  static void check(exec::Status status) {
    if (status != CHIMEX_OK) throw Error("CPU device", status, exec::last_error());
  }

  // After the work that came before: pairs with the acquire in device/order.cuh
  // (observe), by which signal waits look.
  static void publish(std::uint64_t* address, std::uint64_t value, bool add) {
    std::atomic_ref word(*address);
    if (add)
      word.fetch_add(value, std::memory_order_release);
    else
      word.store(value, std::memory_order_release);
  }

  // Runs `work` once, on the stream.
  template <class Work>
  static void enqueue(NativeStream stream, Work work) {
    auto owned = std::make_unique<Work>(work);
    check(exec::stream_host_call(
        as_stream(stream),
        [](void* argument) { (*std::unique_ptr<Work>(static_cast<Work*>(argument)))(); },
        owned.get()));
    owned.release();  // by the stream
  }
};

}  // namespace

std::unique_ptr<Gpu> open_simt_gpu() { return std::make_unique<SimtGpu>(); }

}  // namespace chime::host
