#include "softgpu/driver/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "chime/device/simt/exec/exec_host.hpp"
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/memory/pool.hpp"
#include "softgpu/launcher.hpp"

namespace softgpu::driver {

namespace {

constexpr int kMostDevices = 256;
constexpr int kMostBlocksPerMultiprocessor = 4096;

constinit std::atomic<bool> initialised{false};

const chime::exec::DeviceProps& executor() {
  static const chime::exec::DeviceProps props = [] {
    chime::exec::DeviceProps p;
    chime::exec::device_props(0, &p);
    return p;
  }();
  return props;
}

struct Bounds {
  int least, most;
};

// The value of a variable; `otherwise` if it is not set or, with a message, not such a number.
int number_of(const char* variable, Bounds bounds, int otherwise) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (!*end && number >= bounds.least && number <= bounds.most) return static_cast<int>(number);
  say("%s=%s: %d to %d are possible; %d is taken", variable, text, bounds.least, bounds.most,
      otherwise);
  return otherwise;
}

// A program that gives each PE of a node a GPU of its own then finds as many GPUs as PEs.
int wanted_devices() {
  return number_of("CHIME_SOFTGPU_DEVICES", {0, kMostDevices},
                   std::clamp(launched_on_this_node(), 1, kMostDevices));
}

// Half of the machine's memory, in whole granules.
std::size_t device_memory() {
  constexpr std::size_t kGranule = std::size_t{2} << 20;
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 2 / kGranule * kGranule;
}

struct Devices {
  std::vector<std::unique_ptr<Device>> all;
  Devices() {
    const int count = wanted_devices();
    for (int i = 0; i < count; ++i)
      all.push_back(std::make_unique<Device>(i, device_memory() / static_cast<std::size_t>(count)));
  }
};

}  // namespace

void initialise() {
  if (device_count() == 0) fail(CUDA_ERROR_NO_DEVICE, "CHIME_SOFTGPU_DEVICES=0");
  initialised.store(true, std::memory_order_release);  // pairs with is_initialised
}

bool is_initialised() { return initialised.load(std::memory_order_acquire); }

int device_count() { return static_cast<int>(immortal<Devices>().all.size()); }

Device& device_of(CUdevice ordinal) {
  if (ordinal < 0 || ordinal >= device_count())
    fail(CUDA_ERROR_INVALID_DEVICE, "device %d: there are %d (CHIME_SOFTGPU_DEVICES)", ordinal,
         device_count());
  return *immortal<Devices>().all[static_cast<std::size_t>(ordinal)];
}

int multiprocessors() { return executor().multiprocessors; }
int blocks_per_multiprocessor() {
  static const int blocks = number_of("CHIME_SOFTGPU_BLOCKS", {1, kMostBlocksPerMultiprocessor},
                                      executor().max_blocks_per_multiprocessor);
  return blocks;
}
std::size_t most_shared_bytes() { return executor().shared_bytes_per_block; }

// ---- Memory -----------------------------------------------------------------------------------

Device::Device(int ordinal, std::size_t bytes)
    : ordinal_(ordinal), total_bytes_(bytes), pool_(std::make_unique<Pool>(*this)) {}

Device::~Device() = default;

std::size_t Device::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return total_bytes_ - used_bytes_;
}

void Device::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > total_bytes_ - used_bytes_)
    fail(CUDA_ERROR_OUT_OF_MEMORY,
         "%zu bytes of device memory: %zu of %zu are left (the softgpu's memory is half of this "
         "machine's)",
         bytes, total_bytes_ - used_bytes_, total_bytes_);
  used_bytes_ += bytes;
}

void Device::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= bytes;
}

// ---- The primary context ----------------------------------------------------------------------

std::shared_ptr<Context> Device::retain_primary() {
  const std::lock_guard lock(mutex_);
  if (!primary_) primary_ = Context::create(*this);
  ++retained_;
  return primary_;
}

void Device::release_primary() {
  std::shared_ptr<Context> last;
  {
    const std::lock_guard lock(mutex_);
    if (retained_ == 0)
      fail(CUDA_ERROR_INVALID_CONTEXT,
           "the primary context of device %d is released more often "
           "than it was retained",
           ordinal_);
    if (--retained_ == 0) last = std::move(primary_);
  }
  if (last) last->destroy();
}

void Device::reset_primary() {
  std::shared_ptr<Context> lost;
  {
    const std::lock_guard lock(mutex_);
    lost = std::move(primary_);
    if (retained_ > 0 && lost) primary_ = Context::create(*this);
  }
  if (lost) lost->destroy();
}

bool Device::primary_is_active() const {
  const std::lock_guard lock(mutex_);
  return primary_ != nullptr;
}

bool Device::is_primary(const Context& context) const {
  const std::lock_guard lock(mutex_);
  return primary_.get() == &context;
}

// ---- Attributes -------------------------------------------------------------------------------

int Device::attribute(CUdevice_attribute which) const {
  constexpr int kMostGridYZ = 65535, kMostBlockZ = 64, kMostGridX = 0x7fffffff;
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return kMaxBlockThreads;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return kMostBlockZ;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return kMostGridX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return kMostGridYZ;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return kSharedBytesWithoutAsking;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return static_cast<int>(most_shared_bytes());
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return kWarpSize;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return multiprocessors();
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return blocks_per_multiprocessor();
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return blocks_per_multiprocessor() * kMaxBlockThreads;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
      return 0;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:
      return CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      return 1;
  }
  fail(CUDA_ERROR_INVALID_VALUE, "%d is no attribute of a device", static_cast<int>(which));
}

}  // namespace softgpu::driver
