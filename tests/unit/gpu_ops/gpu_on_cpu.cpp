#include "gpu_on_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "host/gpu/at_once_queue.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/ops/library.cu"
#include "host/pe/pe.hpp"

namespace chime::host {
namespace {

std::atomic<int> launched{0}, copied{0}, copied_on_streams{0};
std::atomic<bool> captured{false};

constexpr std::size_t kGuard = 4096;
constexpr std::byte kGuardByte{0x5a};
thread_local std::span<std::byte> behind_the_room;  // of the PE of this thread

// A launch as the driver keeps it: the arguments are copied.
template <class Call>
std::function<void()> with_call(void (*kernel)(Context, Call), void** arguments) {
  return [=, context = *static_cast<Context*>(arguments[0]),
          call = *static_cast<Call*>(arguments[1])] { kernel(context, call); };
}

std::function<void()> launch_of(LibraryKernel kernel, void** arguments) {
  switch (kernel) {
    case LibraryKernel::kSignal:
      return [call = *static_cast<SignalCall*>(arguments[0])] { chime_library_signal(call); };
    case LibraryKernel::kSignalWait:
      return with_call(chime_library_signal_wait, arguments);
    case LibraryKernel::kWait:
      return with_call(chime_library_wait, arguments);
    case LibraryKernel::kSync:
      return with_call(chime_library_sync, arguments);
    case LibraryKernel::kAmo:
      return with_call(chime_library_amo, arguments);
    case LibraryKernel::kMove:
      return with_call(chime_library_move, arguments);
    case LibraryKernel::kStrided:
      return with_call(chime_library_strided, arguments);
    case LibraryKernel::kElement:
      return with_call(chime_library_element, arguments);
    case LibraryKernel::kSignalOp:
      return with_call(chime_library_signal_op, arguments);
    case LibraryKernel::kUpdate:
      return [call = *static_cast<UpdateCall*>(arguments[0])] {
        for (std::uint32_t i = 0; before_update_on_gpu && i < call.count; ++i)
          before_update_on_gpu(call.updates[i].word);
        chime_library_update(call);
      };
    case LibraryKernel::kCollect:
      return with_call(chime_library_collect, arguments);
    case LibraryKernel::kUpdateByNic:
      return with_call(chime_library_update_by_nic, arguments);
  }
  return {};
}

// The memory besides the heap that kernels reach.
struct Reached {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> ranges;

  bool holds(const std::byte* memory) {
    const std::lock_guard lock(mutex);
    const auto behind = ranges.upper_bound(memory);
    if (behind == ranges.begin()) return false;
    const auto& [begin, bytes] = *std::prev(behind);
    return memory < begin + bytes;
  }
};
Reached& reached() {
  static Reached the_reached;
  return the_reached;
}

// Replaces an event, which the CPU device lacks: a host call in the stream marks the point.
class CountedMark final : public StreamMark {
 public:
  explicit CountedMark(Gpu& cpu) : cpu_(cpu) {}
  void set(NativeStream stream) override {
    auto sought = std::make_shared<std::atomic<bool>>(false);
    at_ = sought;
    call(stream, [sought] { sought->store(true); });
  }
  bool is_reached() override { return at_ == nullptr || at_->load(); }
  void hold(NativeStream stream) override {
    if (is_reached()) return;
    call(stream, [sought = at_] {
      while (!sought->load()) std::this_thread::yield();
    });
  }

 private:
  void call(NativeStream stream, std::function<void()> work) {
    cpu_.host_call_async(
        [](void* owned) {
          (*std::unique_ptr<std::function<void()>>(static_cast<std::function<void()>*>(owned)))();
        },
        new std::function<void()>(std::move(work)), stream);
  }
  Gpu& cpu_;
  std::shared_ptr<std::atomic<bool>> at_;
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
  bool kernels_reach(const void* memory) override {
    return reached().holds(static_cast<const std::byte*>(memory));
  }
  std::optional<ModuleVariable> find_variable(const ProgramModule& module,
                                              const char* name) override {
    return cpu_->find_variable(module, name);
  }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    ++copied;
    cpu_->copy(dst, src, bytes);
  }
  void set(void* dst, int byte, std::size_t bytes) override { cpu_->set(dst, byte, bytes); }
  void signal(std::uint64_t* address, std::uint64_t value, bool add) override {
    SignalCall call{address, value, add};
    void* arguments[] = {&call};
    launch(LibraryKernel::kSignal, arguments);
  }
  void launch(LibraryKernel kernel, void** arguments) override {
    ++launched;
    launch_of(kernel, arguments)();
  }
  void copy_async(void* dst, const void* src, std::size_t bytes, NativeStream stream) override {
    ++copied_on_streams;
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
        [](void* launch) {
          (*std::unique_ptr<std::function<void()>>(static_cast<std::function<void()>*>(launch)))();
        },
        new std::function<void()>(launch_of(kernel, arguments)), stream);
  }
  void host_call_async(void (*call)(void*), void* argument, NativeStream stream) override {
    cpu_->host_call_async(call, argument, stream);
  }
  void synchronize(NativeStream stream) override { cpu_->synchronize(stream); }
  bool is_captured(NativeStream) override { return captured; }
  std::unique_ptr<StreamMark> make_mark() override { return std::make_unique<CountedMark>(*cpu_); }
  std::unique_ptr<DeviceQueue> make_queue() override {
    return std::make_unique<AtOnceQueue>(*this);
  }
  bool wait_for_all_work(int pe, std::chrono::steady_clock::time_point deadline) override {
    return cpu_->wait_for_all_work(pe, deadline);
  }

 private:
  std::unique_ptr<Gpu> cpu_;
};

}  // namespace

std::unique_ptr<Gpu> open_gpu_on_cpu() { return std::make_unique<GpuOnCpu>(open_simt_gpu()); }

void pretend_to_have_a_gpu() {
  DeviceStage& device = *current_runtime().device;
  device.gpu = std::make_unique<GpuOnCpu>(std::move(device.gpu));
  constexpr std::size_t kAll = kBounceRoom + kGuard + kBounceRoom * StreamRooms::kRooms;
  const std::span memory(device.heap.allocate(kAll, 4096), kAll);
  device.bounce = memory.first(kBounceRoom);
  behind_the_room = memory.subspan(kBounceRoom, kGuard);
  std::ranges::fill(behind_the_room, kGuardByte);
  device.staged_bounce = device.gpu->allocate_host_visible(by_kernel::kStagedBounceBytes);
  device.stream_rooms = std::make_unique<StreamRooms>(
      *device.gpu, memory.subspan(kBounceRoom + kGuard), device.control().room_is_left);
}

bool is_untouched_behind_the_bounce_room() {
  return std::ranges::all_of(behind_the_room, [](std::byte b) { return b == kGuardByte; });
}

int library_kernels_launched() { return launched; }
int copies_made() { return copied; }
int copies_given_to_streams() { return copied_on_streams; }
void capture_streams(bool on) { captured = on; }

void let_kernels_reach(const void* memory, std::size_t bytes) {
  const std::lock_guard lock(reached().mutex);
  reached().ranges[static_cast<const std::byte*>(memory)] = bytes;
}

void run_library_kernel(LibraryKernel kernel, void** arguments) { launch_of(kernel, arguments)(); }

}  // namespace chime::host
