// Properties of this machine's driver and GPU, one a line: those that Chime queries, and those that
// decide between paths. Fails where a needed property is missing.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "check.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/cuda_gpu.hpp"

using namespace chime::host;
using namespace chime::tests;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPage = 4096;

void tell(const char* fact, const std::string& value) {
  std::printf("%-42s %s\n", fact, value.c_str());
}

struct Attribute {
  const char* name;
  CUdevice_attribute which;
  bool is_needed;
};

constexpr Attribute kAttributes[] = {
    {"compute capability, major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, true},
    {"compute capability, minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, false},
    {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, true},
    {"registers of a block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, true},
    {"unified addressing", CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, true},
    {"virtual memory management", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, true},
    {"handles as file descriptors", CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
     false},
    {"handles of a fabric", CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, false},
    {"64-bit stream memory operations", CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, true},
    {"cooperative launch", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, true},
    {"host pointers of registered memory",
     CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, true},
    {"GPUDirect RDMA", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, false},
    {"GPUDirect RDMA with such memory", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
     false},
    {"GPUDirect RDMA: order of writes", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, false},
    {"dma-bufs", CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, false},
};

void tell_attributes() {
  CUdevice device = 0;
  CHIME_NEED(cuda::driver().cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  for (const Attribute& asked : kAttributes) {
    const int value = cuda::driver().attribute(device, asked.which);
    tell(asked.name, std::to_string(value));
    if (asked.is_needed && value == 0) {
      std::printf("Chime does not run without: %s\n", asked.name);
      ++failures;
    }
  }
}

void tell_what_a_nic_meets(Gpu& gpu) {
  tell("a reader that sees a NIC's flag sees its data",
       gpu.orders_device_writes() ? "yes: queues may lie on the GPU"
                                  : "no: the order of writes is less than by the owner");
  try {
    const auto heap = gpu.allocate_heap(std::size_t{4} << 20);
    const DmaBuf buffer = gpu.export_dma_buf(heap->address(), heap->bytes());
    tell("the heap as a dma-buf", buffer.fd >= 0 ? "yes" : "no: " + buffer.why_not);
    if (buffer.fd >= 0) ::close(buffer.fd);
  } catch (const Error& error) {
    tell("the heap as a dma-buf", error.message());
    ++failures;
  }
}

// Registers of a device with a folder in sysfs, mapped and never touched.
class MappedRegisters {
 public:
  explicit MappedRegisters(const fs::path& device) {
    const int fd = ::open((device / "resource0").c_str(), O_RDWR | O_SYNC | O_CLOEXEC);
    if (fd < 0) return;
    void* const pages = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (pages != MAP_FAILED) pages_ = pages;
  }
  MappedRegisters(const MappedRegisters&) = delete;
  ~MappedRegisters() {
    if (pages_) ::munmap(pages_, kPage);
  }

  void* pages() const { return pages_; }

 private:
  void* pages_ = nullptr;
};

// A NIC's registers, mapped as for doorbells; else the GPU's own, mapped the same way.
fs::path device_with_registers(const std::string& gpu) {
  std::error_code none;
  for (const auto& nic : fs::directory_iterator("/sys/class/infiniband", none))
    if (fs::exists(nic.path() / "device/resource0", none)) return nic.path() / "device";
  return fs::path("/sys/bus/pci/devices") / gpu;
}

void tell_registration_of_registers(Gpu& gpu) {
  const char* const fact = "registers of a device, for kernels";
  const fs::path device = device_with_registers(gpu.pci_address());
  const MappedRegisters registers(device);
  if (!registers.pages())
    return tell(fact, "not tried: " + device.string() + "/resource0 cannot be mapped here");
  const CUresult result = cuda::driver().cuMemHostRegister(
      registers.pages(), kPage,
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY);
  if (result == CUDA_SUCCESS) cuda::driver().cuMemHostUnregister(registers.pages());
  tell(fact, (result == CUDA_SUCCESS ? "yes" : "no: " + cuda::driver().words(result)) + " (" +
                 device.string() + ")");
}

}  // namespace

int main() {
  if (const std::string why = why_no_cuda(); !why.empty()) skip(why.c_str());
  const auto gpu = make_cuda_gpu(0);
  int version = 0;
  cuda::driver().cuDriverGetVersion(&version);
  tell("GPU", gpu->describe());
  tell("place", gpu->pci_address());
  tell("GPUs", std::to_string(cuda_devices().size()));
  tell("CUDA version of the driver", std::to_string(version));
  tell_attributes();
  tell_what_a_nic_meets(*gpu);
  tell_registration_of_registers(*gpu);
  return verdict();
}
