#include "host/gpu/cuda/multicast.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/cuda/parts.hpp"

namespace chime::host::cuda {
namespace {

constexpr char kAdvice[] = "without CHIME_COLL_...=multimem no multicast is made";

bool driver_has_multicast() {
  const Driver& cu = driver();
  return cu.cuMulticastCreate && cu.cuMulticastAddDevice && cu.cuMulticastBindMem &&
         cu.cuMulticastUnbind && cu.cuMulticastGetGranularity;
}

CUmulticastObjectProp properties(std::size_t bytes, unsigned gpus) {
  CUmulticastObjectProp prop{};
  prop.numDevices = gpus;
  prop.size = whole_granules(bytes);
  prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return prop;
}

CUmemGenericAllocationHandle created(std::size_t bytes, unsigned gpus) {
  const CUmulticastObjectProp prop = properties(bytes, gpus);
  CUmemGenericAllocationHandle handle = 0;
  driver().check(driver().cuMulticastCreate(&handle, &prop), "cuMulticastCreate", kAdvice);
  return handle;
}

CUmemGenericAllocationHandle imported(int fd) {
  CUmemGenericAllocationHandle handle = 0;
  driver().check(driver().cuMemImportFromShareableHandle(
                     &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 "cuMemImportFromShareableHandle of a multicast object", kAdvice);
  return handle;
}

// A GPU's memory in the object, from its beginning on.
class Binding {
 public:
  Binding(const Place& place, const Physical& object, const DeviceMemory& heap)
      : place_(place), object_(object), bytes_(whole_granules(heap.bytes())) {
    driver().check(
        driver().cuMulticastBindMem(object.handle(), 0, physical_of(heap), 0, bytes_, 0),
        "cuMulticastBindMem",
        std::string("the switches between GPUs need a running nvidia-fabricmanager; ") + kAdvice);
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  ~Binding() {
    const UncapturedCalls uncaptured;
    driver().cuMulticastUnbind(object_.handle(), place_.device, 0, bytes_);
  }

 private:
  const Place place_;
  const Physical& object_;
  const std::size_t bytes_;
};

class CudaMulticast final : public Multicast {
 public:
  CudaMulticast(const Place& place, CUmemGenericAllocationHandle handle, std::size_t bytes)
      : place_(place), bytes_(bytes), object_(handle) {}

  void share() { shared_.emplace(object_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR); }
  int share_fd() const override { return shared_ ? shared_->fd() : -1; }

  void add_device() override {
    const CurrentContext current(place_.context);
    driver().check(driver().cuMulticastAddDevice(object_.handle(), place_.device),
                   "cuMulticastAddDevice", kAdvice);
  }

  std::byte* bind(const DeviceMemory& heap) override {
    const CurrentContext current(place_.context);
    binding_.emplace(place_, object_, heap);
    addresses_.emplace(whole_granules(bytes_));
    mapping_.emplace(*addresses_, object_);
    auto* const address = reinterpret_cast<std::byte*>(addresses_->first());
    grant_access(place_, address, bytes_);
    return address;
  }

 private:
  const Place place_;
  const std::size_t bytes_;
  const Physical object_;
  std::optional<ShareHandle> shared_;
  std::optional<Binding> binding_;
  std::optional<Addresses> addresses_;
  std::optional<Mapping> mapping_;
};

// The driver binds and maps whole units of this.
std::size_t granule_of(std::size_t bytes, unsigned gpus) {
  const CUmulticastObjectProp prop = properties(bytes, gpus);
  std::size_t granule = 0;
  driver().check(
      driver().cuMulticastGetGranularity(&granule, &prop, CU_MULTICAST_GRANULARITY_MINIMUM),
      "cuMulticastGetGranularity", kAdvice);
  return granule;
}

}  // namespace

std::string why_no_multicast(const Place& place, const DeviceMemory& heap, unsigned gpus) {
  if (!driver_has_multicast())
    return "its driver has no multicast objects; those for CUDA 12.4 and newer do";
  if (!driver().attribute(place.device, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED))
    return "its GPU has no multicast (CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0): it takes GPUs "
           "of compute capability 9.0 behind NVSwitch, and nvidia-fabricmanager";
  if (heap.share_fd() < 0) return "its heap travels by fabric handle, and not by descriptor";
  const std::size_t granule = granule_of(heap.bytes(), gpus);
  if (granule == 0 || whole_granules(heap.bytes()) % granule != 0 || kGranule % granule != 0)
    return "its multicast objects come in units of " + std::to_string(granule) +
           " bytes, which heaps are not";
  return {};
}

std::unique_ptr<Multicast> create_multicast(const Place& place, std::size_t bytes, unsigned gpus) {
  auto multicast = std::make_unique<CudaMulticast>(place, created(bytes, gpus), bytes);
  multicast->share();
  return multicast;
}

std::unique_ptr<Multicast> join_multicast(const Place& place, int fd, std::size_t bytes) {
  return std::make_unique<CudaMulticast>(place, imported(fd), bytes);
}

}  // namespace chime::host::cuda
