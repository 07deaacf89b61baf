#include "host/topology/loaded_topology.hpp"

#ifdef CHIME_HAVE_HWLOC

namespace chime::topology {
namespace {

// These components ask drivers (OpenCL, CUDA, X) for facts that the PCI tree shows without them.
// That takes long, and would open GPUs that other PEs use.
constexpr const char* kDriversOfOthers[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};

}  // namespace

LoadedTopology::LoadedTopology(const HwlocLibrary& hwloc, LookFor what) : hwloc_(hwloc) {
  if (hwloc.topology_init(&topology_) != 0) return;
  if (what == LookFor::kDevicesToo) {
    // Devices may hang at a package of which this process may use no processor.
    hwloc.topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc.topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    for (const char* component : kDriversOfOthers)
      hwloc.topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  is_there_ = hwloc.topology_load(topology_) == 0;
}

LoadedTopology::~LoadedTopology() {
  if (topology_ != nullptr) hwloc_.topology_destroy(topology_);
}

cpu_set_t processors_of(const HwlocLibrary& hwloc, const hwloc_obj& object) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int cpu = hwloc.bitmap_next(object.cpuset, -1); cpu >= 0 && cpu < CPU_SETSIZE;
       cpu = hwloc.bitmap_next(object.cpuset, cpu))
    CPU_SET(cpu, &cpus);
  return cpus;
}

}  // namespace chime::topology

#endif
