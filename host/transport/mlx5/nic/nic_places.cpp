#include "host/transport/mlx5/nic/nic_places.hpp"

#include <algorithm>

#include "host/transport/mlx5/nic/rdma_sysfs.hpp"

namespace chime::host::mlx5 {
namespace {

using topology::Machine;
using topology::Place;

std::string what_is_near_to(const std::string& gpu) {
  return gpu.empty() ? "this PE's processors" : "GPU " + gpu;
}

// Whether it lists them. One that has no place in the PCI tree, as those of software, is far.
bool find_by_hwloc(std::span<Candidate> candidates, Goal& goal, const std::string& gpu,
                   const Machine& machine) {
  goal.place = gpu.empty() ? place_of(topology::processors_of_this_thread(), machine)
                           : place_of(gpu, machine);
  for (Candidate& nic : candidates) nic.place = place_of(nic.name, machine);
  return goal.place.is_known() &&
         std::ranges::any_of(candidates, [](const Candidate& nic) { return nic.place.is_known(); });
}

void find_by_sysfs(std::span<Candidate> candidates, Goal& goal, const std::string& gpu) {
  goal.place = gpu.empty() ? Place{} : place_in_sysfs(pci_device_in_sysfs(gpu));
  for (Candidate& nic : candidates) nic.place = place_in_sysfs(nic.directory / "device");
}

}  // namespace

Goal find_places(std::span<Candidate> candidates, const std::string& gpu, const Machine& machine) {
  Goal goal;
  goal.what = what_is_near_to(gpu);
  if (find_by_hwloc(candidates, goal, gpu, machine)) return goal;
  find_by_sysfs(candidates, goal, gpu);
  goal.why_not_by_hwloc =
      machine.why_no_devices.empty() ? "hwloc does not list them" : machine.why_no_devices;
  return goal;
}

}  // namespace chime::host::mlx5
