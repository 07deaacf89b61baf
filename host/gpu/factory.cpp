#include "host/gpu/factory.hpp"

#include "host/errors/error.hpp"
#include "host/gpu/cuda_gpu.hpp"

namespace chime::host {

std::unique_ptr<Gpu> open_gpu(DeviceChoice choice, int preferred) {
  if (choice == DeviceChoice::kCpu) return open_simt_gpu();
  if (choice == DeviceChoice::kAuto && !why_no_cuda().empty()) return open_simt_gpu();
  return make_cuda_gpu(preferred);
}

bool is_chosen(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu || !why_no_cuda().empty() || thread_has_cuda_device();
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> devices{open_simt_gpu()->describe()};
  const std::string why = why_no_cuda();
  devices.push_back(why.empty() ? make_cuda_gpu(0)->describe() : "no GPU: " + why);
  return devices;
}

}  // namespace chime::host
