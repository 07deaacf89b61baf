#include "host/topology/machine.hpp"

#include <algorithm>
#include <cstdio>

#include "host/topology/loaded_topology.hpp"

namespace chime::topology {
namespace {

#ifdef CHIME_HAVE_HWLOC

template <class... Numbers>
std::string printed(const char* format, Numbers... numbers) {
  char text[64];
  std::snprintf(text, sizeof text, format, numbers...);
  return text;
}

std::string address_of(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  return printed("%04x:%02x:%02x.%x", unsigned{pci.domain}, unsigned{pci.bus}, unsigned{pci.dev},
                 unsigned{pci.func});
}

std::string name_of_bridge(const hwloc_obj_attr_u::hwloc_bridge_attr_s& bridge) {
  if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
    return "PCI bridge " + address_of(bridge.upstream.pci);
  return printed("host bridge %04x:%02x", unsigned{bridge.downstream.pci.domain},
                 unsigned{bridge.downstream.pci.secondary_bus});
}

// Differs from those of the parts beside it.
std::string name_of_part(const HwlocLibrary& hwloc, const hwloc_obj& object) {
  if (object.type == HWLOC_OBJ_MACHINE) return "the machine";
  if (object.type == HWLOC_OBJ_BRIDGE) return name_of_bridge(object.attr->bridge);
  const std::string number = " " + std::to_string(object.logical_index);
  if (object.type == HWLOC_OBJ_PACKAGE) return "package" + number;
  return hwloc.obj_type_string(object.type) + number;
}

// Goes down the machine, and notes what it meets.
class Walk {
 public:
  Walk(const HwlocLibrary& hwloc, Machine& machine) : hwloc_(hwloc), machine_(machine) {}

  // `place`: what `object` is in.
  void meet(const hwloc_obj& object, const Place& place) {
    switch (object.type) {
      case HWLOC_OBJ_PU:
        return;
      case HWLOC_OBJ_PCI_DEVICE:
        machine_.devices.emplace(address_of(object.attr->pcidev), place);
        return meet_all(object.io_first_child, place);
      case HWLOC_OBJ_OS_DEVICE:
        if (object.name != nullptr) machine_.devices.emplace(object.name, place);
        return;
      default:
        return go_into(object, place);
    }
  }

 private:
  void go_into(const hwloc_obj& part, Place place) {
    place.parts.push_back(name_of_part(hwloc_, part));
    if (part.cpuset != nullptr) machine_.parts.push_back({processors_of(hwloc_, part), place});
    meet_all(part.io_first_child, place);
    meet_all(part.first_child, place);
  }
  void meet_all(const hwloc_obj* first, const Place& place) {
    for (const hwloc_obj* object = first; object != nullptr; object = object->next_sibling)
      meet(*object, place);
  }

  const HwlocLibrary& hwloc_;
  Machine& machine_;
};

Machine machine_of(const HwlocLibrary& hwloc) {
  Machine machine;
  const LoadedTopology topology(hwloc, LookFor::kDevicesToo);
  if (topology.is_there())
    Walk(hwloc, machine).meet(*hwloc.get_obj_by_depth(topology.get(), 0, 0), {});
  if (!topology.is_there())
    machine.why_no_devices = "hwloc cannot look at this machine";
  else if (machine.devices.empty())
    machine.why_no_devices = "hwloc finds no PCI device here";
  return machine;
}

#endif

bool has_all(const cpu_set_t& of, const cpu_set_t& processors) {
  cpu_set_t both;
  CPU_AND(&both, &of, &processors);
  return CPU_EQUAL(&both, &processors);
}

}  // namespace

Machine look_at_machine() {
#ifdef CHIME_HAVE_HWLOC
  if (const HwlocLibrary* const hwloc = HwlocLibrary::get()) return machine_of(*hwloc);
#endif
  Machine machine;
  machine.why_no_devices = why_no_hwloc();
  return machine;
}

const Machine& this_machine() {
  static const auto* const once = new Machine(look_at_machine());
  return *once;
}

// Later parts are smaller, or beside.
Place place_of(const cpu_set_t& processors, const Machine& machine) {
  const auto has_them = [&](const Machine::Part& part) {
    return has_all(part.processors, processors);
  };
  if (CPU_COUNT(&processors) == 0) return {};
  const auto last = std::find_if(machine.parts.rbegin(), machine.parts.rend(), has_them);
  return last == machine.parts.rend() ? Place{} : last->place;
}

Place place_of(const std::string& device, const Machine& machine) {
  const auto found = machine.devices.find(device);
  return found == machine.devices.end() ? Place{} : found->second;
}

cpu_set_t processors_of_this_thread() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) CPU_ZERO(&processors);
  return processors;
}

}  // namespace chime::topology
