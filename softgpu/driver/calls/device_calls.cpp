// The driver itself and its devices.
#include <cstdio>
#include <cstring>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"

using namespace softgpu::driver;

namespace {

// Buses that the first devices of no machine have.
constexpr unsigned kFirstBus = 0xf0, kBuses = 16;

void write_address(char* text, std::size_t bytes, int ordinal) {
  const auto number = static_cast<unsigned char>(ordinal);
  std::snprintf(text, bytes, "0000:%02X:%02X.0", kFirstBus + number % kBuses, number / kBuses);
}

}  // namespace

SOFTGPU_API cuInit(unsigned flags) {
  return answer([&] {
    if (flags != 0) fail(CUDA_ERROR_INVALID_VALUE, "cuInit: flags are 0");
    initialise();
  });
}

SOFTGPU_API cuDriverGetVersion(int* version) {
  return answer([&] { required(version) = CUDA_VERSION; });
}

SOFTGPU_API cuDeviceGetCount(int* count) {
  return answer_initialised([&] { required(count) = device_count(); });
}

SOFTGPU_API cuDeviceGet(CUdevice* device, int ordinal) {
  return answer_initialised([&] { required(device) = device_of(ordinal).ordinal(); });
}

SOFTGPU_API cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return answer_initialised([&] {
    need(name);
    if (bytes <= 0) fail(CUDA_ERROR_INVALID_VALUE, "cuDeviceGetName: room for %d bytes", bytes);
    device_of(device);
    std::snprintf(name, static_cast<std::size_t>(bytes), "softgpu (kernels on the CPU)");
  });
}

SOFTGPU_API cuDeviceGetPCIBusId(char* address, int bytes, CUdevice device) {
  return answer_initialised([&] {
    constexpr int kBytes = 13;
    need(address);
    if (bytes < kBytes)
      fail(CUDA_ERROR_INVALID_VALUE, "cuDeviceGetPCIBusId: room for %d bytes, it takes %d", bytes,
           kBytes);
    write_address(address, static_cast<std::size_t>(bytes), device_of(device).ordinal());
  });
}

SOFTGPU_API cuDeviceGetByPCIBusId(CUdevice* device, const char* address) {
  return answer_initialised([&] {
    need(address);
    for (int i = 0; i < device_count(); ++i) {
      char own[16];
      write_address(own, sizeof own, i);
      if (::strcasecmp(own, address) == 0) {
        required(device) = i;
        return;
      }
    }
    fail(CUDA_ERROR_INVALID_DEVICE, "no device is at %s", address);
  });
}

SOFTGPU_API cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return answer_initialised([&] { required(value) = device_of(device).attribute(which); });
}

SOFTGPU_API cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return answer_initialised([&] { required(bytes) = device_of(device).total_bytes(); });
}

SOFTGPU_API cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return answer_initialised(
      [&] { required(can) = device_of(device).ordinal() != device_of(peer).ordinal(); });
}
