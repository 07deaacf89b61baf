// Multicast objects: their devices, and the memory that is bound to them. They are mapped, shared
// and released by the calls of virtual_memory_calls.cpp.
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"
#include "softgpu/driver/memory/multicast.hpp"
#include "softgpu/driver/memory/physical.hpp"

using namespace softgpu::driver;

namespace {

const CUmulticastObjectProp& checked(const CUmulticastObjectProp* prop) {
  const CUmulticastObjectProp& asked = required(prop);
  if (asked.numDevices == 0 || asked.numDevices > kMostMulticastDevices || asked.flags != 0)
    fail(CUDA_ERROR_INVALID_VALUE, "a multicast object has 1 to %u devices, and its flags are 0",
         kMostMulticastDevices);
  if ((asked.handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) != 0)
    fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu has no fabric handles");
  return asked;
}

std::shared_ptr<MulticastObject> object_of(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<MulticastObject> object = multicast_objects().find(handle);
  if (!object)
    fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no handle of a multicast object, or released already",
         handle);
  return object;
}

}  // namespace

SOFTGPU_API cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                      CUmulticastGranularity_flags) {
  return answer_initialised([&] {
    checked(prop);
    required(granularity) = kGranule;
  });
}

SOFTGPU_API cuMulticastCreate(CUmemGenericAllocationHandle* object,
                              const CUmulticastObjectProp* prop) {
  return answer_initialised([&] {
    need(object);
    const CUmulticastObjectProp& asked = checked(prop);
    if (!is_whole(asked.size))
      fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of multicast: whole units of %zu are possible",
           asked.size, kGranule);
    *object = multicast_objects().add(
        MulticastObject::create(asked.numDevices, asked.size, asked.handleTypes != 0));
  });
}

SOFTGPU_API cuMulticastAddDevice(CUmemGenericAllocationHandle object, CUdevice device) {
  return answer_initialised([&] { object_of(object)->add(device_of(device).ordinal()); });
}

SOFTGPU_API cuMulticastBindMem(CUmemGenericAllocationHandle object, size_t object_offset,
                               CUmemGenericAllocationHandle memory, size_t memory_offset,
                               size_t bytes, unsigned long long flags) {
  return answer_initialised([&] {
    const std::shared_ptr<MulticastObject> multicast = object_of(object);
    const std::shared_ptr<Physical> physical = physical_memory().find(memory);
    if (!physical)
      fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no handle of memory, or released already", memory);
    if (flags != 0 || !is_whole(bytes) || bytes > physical->bytes() || bytes > multicast->bytes())
      fail(CUDA_ERROR_INVALID_VALUE,
           "%zu bytes to bind, of %zu to %zu: whole units of %zu, and flags are 0", bytes,
           physical->bytes(), multicast->bytes(), kGranule);
    if (object_offset != 0 || memory_offset != 0)
      fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu binds memory from its beginning on alone");
    if (!physical->is_exportable())
      fail(CUDA_ERROR_INVALID_VALUE, "memory of a multicast object has handles to share");
    multicast->wait_for_devices("cuMulticastBindMem");
    multicast->bind(physical, bytes);
  });
}

SOFTGPU_API cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device,
                              size_t object_offset, size_t bytes) {
  return answer_initialised([&] {
    if (object_offset != 0)
      fail(CUDA_ERROR_INVALID_VALUE, "nothing is bound at offset %zu", object_offset);
    object_of(object)->unbind(device_of(device).ordinal(), bytes);
  });
}
