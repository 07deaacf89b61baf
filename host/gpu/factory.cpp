#include "host/gpu/factory.hpp"

#include <algorithm>
#include <iterator>

#include "host/gpu/cuda_gpu.hpp"
#include "host/gpu/gpu_choice.hpp"

namespace chime::host {
namespace {

bool takes_a_gpu(DeviceChoice choice) {
  if (choice == DeviceChoice::kAuto) return why_no_cuda().empty();
  return choice == DeviceChoice::kCuda;
}

// The other PEs learn of it, so that each takes another GPU.
std::unique_ptr<Gpu> open_settled_gpu(int device, const std::string& address,
                                      const std::string& why, const NodeTalk& node) {
  node.tell(text_of({{address}}));
  return make_cuda_gpu(device, why);
}

std::unique_ptr<Gpu> open_near_gpu(const std::vector<std::string>& devices, const NodeTalk& node) {
  const topology::Machine& machine = topology::this_machine();
  const SeenGpus mine = seen_from(topology::processors_of_this_thread(), devices, machine);
  node.tell(text_of(mine));
  const NodeTalk::Heard heard = node.hear();
  std::vector<SeenGpus> all;
  std::ranges::transform(heard.by_place, std::back_inserter(all), seen_gpus_of);
  const std::size_t device = spread_over_gpus(all)[heard.my_place];
  return make_cuda_gpu(static_cast<int>(device),
                       why_this_gpu(mine, device, all.size(), machine.why_no_devices));
}

std::unique_ptr<Gpu> open_cuda_gpu(const NodeTalk& node) {
  const std::optional<int> chosen = chosen_cuda_device();
  const std::vector<std::string> devices = cuda_devices();
  if (chosen)
    return open_settled_gpu(*chosen, devices[static_cast<std::size_t>(*chosen)],
                            "chosen by the program", node);
  if (devices.size() == 1)
    return open_settled_gpu(0, devices[0], "the only GPU that this PE sees", node);
  return open_near_gpu(devices, node);
}

}  // namespace

std::unique_ptr<Gpu> open_gpu(DeviceChoice choice, const NodeTalk& node) {
  if (takes_a_gpu(choice)) return open_cuda_gpu(node);
  if (is_built_with_cuda()) node.tell(text_of({}));  // others may wait for it
  return open_simt_gpu();
}

void choose_gpu(DeviceChoice choice, int cuda_device) {
  if (takes_a_gpu(choice)) choose_cuda_device(cuda_device);
}

bool is_chosen(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu || !why_no_cuda().empty() || chosen_cuda_device();
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> devices{open_simt_gpu()->describe()};
  std::string said;
  const NodeTalk alone{[&](const std::string& mine) { said = mine; },
                       [&] {
                         return NodeTalk::Heard{{said}, 0};
                       }};
  const std::string why = why_no_cuda();
  devices.push_back(why.empty() ? open_gpu(DeviceChoice::kCuda, alone)->describe()
                                : "no GPU: " + why);
  return devices;
}

}  // namespace chime::host
