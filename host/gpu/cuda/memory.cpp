#include "host/gpu/cuda/memory.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "host/errors/error.hpp"
#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/cuda/parts.hpp"
#include "host/gpu/memfd.hpp"

namespace chime::host::cuda {
namespace {

static_assert(sizeof(CUmemFabricHandle) == 64, "the size that gpu.hpp promises");

// How memory is named to other processes: a descriptor needs nothing but a socket; a fabric handle
// needs NVIDIA's IMEX service.
CUmemAllocationHandleType handle_type(CUdevice device) {
  const Driver& cu = driver();
  if (cu.attribute(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED))
    return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (cu.attribute(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED))
    return CU_MEM_HANDLE_TYPE_FABRIC;
  throw Error("symmetric heap", CHIMEX_ERR_UNSUPPORTED,
              "this GPU's memory cannot be shared between processes (neither file descriptors nor "
              "fabric handles)");
}

CUmemAllocationProp properties(CUdevice device, CUmemAllocationHandleType handles) {
  const Driver& cu = driver();
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  prop.requestedHandleTypes = handles;
  prop.allocFlags.gpuDirectRDMACapable =
      cu.attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0;
  return prop;
}

void check_granule(const CUmemAllocationProp& prop) {
  std::size_t granule = 0;
  driver().check(
      driver().cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity");
  if (granule == 0 || kGranule % granule != 0)
    throw Error("symmetric heap", CHIMEX_ERR_UNSUPPORTED,
                "this GPU allocates in units of " + std::to_string(granule) +
                    " bytes, which do not divide Chime's " + std::to_string(kGranule));
}

class VmmMemory final : public DeviceMemory {
 public:
  VmmMemory(const Place& place, std::size_t bytes, std::unique_ptr<Physical> physical,
            ShareHandle shared = {})
      : bytes_(bytes),
        shared_(std::move(shared)),
        physical_(std::move(physical)),
        addresses_(whole_granules(bytes)),
        mapping_(addresses_, *physical_) {
    grant_access(place, address(), bytes);
  }

  std::byte* address() const override { return reinterpret_cast<std::byte*>(addresses_.first()); }
  std::size_t bytes() const override { return bytes_; }
  int share_fd() const override { return shared_.fd(); }
  const std::byte* fabric_handle() const override { return shared_.fabric(); }

  CUmemGenericAllocationHandle physical() const { return physical_->handle(); }

 private:
  const std::size_t bytes_;
  ShareHandle shared_;
  std::unique_ptr<Physical> physical_;
  Addresses addresses_;
  Mapping mapping_;
};

// A memfd that the driver has pinned, so that kernels use it at the address that the host does.
class PinnedMemfd final : public DeviceMemory {
 public:
  PinnedMemfd(const Place& place, std::size_t bytes)
      : place_(place), memory_(create_memfd(kSharedPages, bytes)) {
    driver().check(
        driver().cuMemHostRegister(memory_->address(), bytes,
                                   CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
        "cuMemHostRegister", "pinned memory is bounded by ulimit -l");
    check_same_address();
  }
  PinnedMemfd(const PinnedMemfd&) = delete;
  PinnedMemfd& operator=(const PinnedMemfd&) = delete;
  ~PinnedMemfd() override { unregister(); }

  std::byte* address() const override { return memory_->address(); }
  std::size_t bytes() const override { return memory_->bytes(); }
  int share_fd() const override { return memory_->share_fd(); }
  const std::byte* fabric_handle() const override { return nullptr; }

 private:
  void check_same_address() {
    CUdeviceptr seen = 0;
    const CUresult result = driver().cuMemHostGetDevicePointer(&seen, memory_->address(), 0);
    if (result == CUDA_SUCCESS && seen == reinterpret_cast<CUdeviceptr>(memory_->address())) return;
    unregister();
    driver().check(result, "cuMemHostGetDevicePointer");
    throw Error("control page", CHIMEX_ERR_UNSUPPORTED,
                "this GPU sees pinned host memory at another address than the host does");
  }
  void unregister() {
    const CurrentContext current(place_.context);
    driver().cuMemHostUnregister(memory_->address());
  }

  const Place place_;
  std::unique_ptr<DeviceMemory> memory_;
};

// Registers that the driver maps for kernels. Pages that are ordinary memory (an emulated NIC's)
// are refused as I/O memory, and pinned instead.
class RegisteredIo final : public IoMapping {
 public:
  RegisteredIo(const Place& place, std::byte* pages, std::size_t bytes)
      : place_(place), pages_(pages) {
    CUresult result = pin(bytes, CU_MEMHOSTREGISTER_IOMEMORY);
    if (result != CUDA_SUCCESS && pin(bytes, 0) == CUDA_SUCCESS) result = CUDA_SUCCESS;
    driver().check(
        result, "cuMemHostRegister of a doorbell page",
        "the NVIDIA kernel module must be loaded with "
        "NVreg_RegistryDwords=\"PeerMappingOverride=1;\", or the process needs "
        "CAP_SYS_ADMIN; CHIME_NIC_DOORBELL=cpu lets a host thread ring, CHIME_NIC=none does "
        "without the NIC");
    CUdeviceptr seen = 0;
    result = driver().cuMemHostGetDevicePointer(&seen, pages_, 0);
    if (result != CUDA_SUCCESS) unregister();
    driver().check(result, "cuMemHostGetDevicePointer of a doorbell page");
    address_ = reinterpret_cast<std::byte*>(seen);
  }
  RegisteredIo(const RegisteredIo&) = delete;
  RegisteredIo& operator=(const RegisteredIo&) = delete;
  ~RegisteredIo() override { unregister(); }

  std::byte* address() const override { return address_; }

 private:
  CUresult pin(std::size_t bytes, unsigned kind) {
    return driver().cuMemHostRegister(
        pages_, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | kind);
  }
  void unregister() {
    const CurrentContext current(place_.context);
    driver().cuMemHostUnregister(pages_);
  }

  const Place place_;
  std::byte* const pages_;
  std::byte* address_ = nullptr;
};

std::unique_ptr<DeviceMemory> import_shareable(const Place& place, void* shareable,
                                               CUmemAllocationHandleType type, std::size_t bytes) {
  return std::make_unique<VmmMemory>(place, bytes, std::make_unique<Physical>(shareable, type));
}

}  // namespace

std::unique_ptr<DeviceMemory> create_exportable(const Place& place, std::size_t bytes) {
  const CUmemAllocationProp prop = properties(place.device, handle_type(place.device));
  check_granule(prop);
  auto physical = std::make_unique<Physical>(prop, whole_granules(bytes),
                                             "the heap; make CHIME_SYMMETRIC_SIZE smaller");
  ShareHandle shared(*physical, prop.requestedHandleTypes);
  return std::make_unique<VmmMemory>(place, bytes, std::move(physical), std::move(shared));
}

CUmemGenericAllocationHandle physical_of(const DeviceMemory& memory) {
  return dynamic_cast<const VmmMemory&>(memory).physical();
}

std::unique_ptr<DeviceMemory> create_private(const Place& place, std::size_t bytes) {
  const CUmemAllocationProp prop = properties(place.device, CU_MEM_HANDLE_TYPE_NONE);
  check_granule(prop);
  auto physical =
      std::make_unique<Physical>(prop, whole_granules(bytes),
                                 "queues and tables; make the heap smaller (CHIME_SYMMETRIC_SIZE), "
                                 "or the queues (CHIME_QP_DEPTH, CHIME_NIC_SLOTS)");
  return std::make_unique<VmmMemory>(place, bytes, std::move(physical));
}

std::unique_ptr<DeviceMemory> import_fd(const Place& place, int fd, std::size_t bytes) {
  return import_shareable(place, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, bytes);
}

std::unique_ptr<DeviceMemory> import_fabric(const Place& place, const std::byte* handle,
                                            std::size_t bytes) {
  CUmemFabricHandle fabric;
  std::memcpy(&fabric, handle, sizeof fabric);
  return import_shareable(place, &fabric, CU_MEM_HANDLE_TYPE_FABRIC, bytes);
}

void grant_access(const Place& place, std::byte* address, std::size_t bytes) {
  CUmemAccessDesc access{};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, place.device};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  driver().check(
      driver().cuMemSetAccess(reinterpret_cast<CUdeviceptr>(address), whole_granules(bytes),
                              &access, 1),
      "cuMemSetAccess",
      "a peer's GPU that this GPU cannot reach over NVLink or PCIe (nvidia-smi topo -p2p "
      "rw) is not mapped with CHIME_P2P=off");
}

std::unique_ptr<IoMapping> map_io_memory(const Place& place, std::byte* pages, std::size_t bytes) {
  return std::make_unique<RegisteredIo>(place, pages, bytes);
}

DmaBuf export_dma_buf(const Place& place, const std::byte* memory, std::size_t bytes) {
  if (!driver().attribute(place.device, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED))
    return {-1, "this GPU's driver has none (the open kernel modules do)"};
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = start & ~(page - 1), end = (start + bytes + page - 1) & ~(page - 1);
  DmaBuf exported;
  exported.offset = start - first;
  const CUresult result = driver().cuMemGetHandleForAddressRange(
      &exported.fd, first, end - first, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (result == CUDA_SUCCESS) return exported;
  return {-1, driver().words(result)};
}

std::unique_ptr<DeviceMemory> create_host_visible(const Place& place, std::size_t bytes) {
  return std::make_unique<PinnedMemfd>(place, bytes);
}

}  // namespace chime::host::cuda
