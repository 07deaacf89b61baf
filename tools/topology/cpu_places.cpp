#include "tools/topology/cpu_places.hpp"

#include "tools/topology/hwloc_library.hpp"

namespace chime::topology {
namespace {

std::vector<cpu_set_t> places_in_system_order(PlaceKind kind, const cpu_set_t& allowed) {
  if (kind == PlaceKind::kNuma) return {allowed};
  std::vector<cpu_set_t> places;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_ZERO(&places.emplace_back());
    CPU_SET(cpu, &places.back());
  }
  return places;
}

#ifdef CHIME_HAVE_HWLOC

class Topology {
 public:
  explicit Topology(const HwlocLibrary& hwloc) : hwloc_(hwloc) {
    if (hwloc.topology_init(&topology_) != 0) return;
    is_there_ = hwloc.topology_load(topology_) == 0;
  }
  ~Topology() {
    if (topology_ != nullptr) hwloc_.topology_destroy(topology_);
  }
  Topology(const Topology&) = delete;

  std::vector<cpu_set_t> places(hwloc_obj_type_t type, const cpu_set_t& allowed) const {
    std::vector<cpu_set_t> places;
    if (!is_there_) return places;
    const int depth = hwloc_.get_type_depth(topology_, type);
    for (unsigned i = 0; i < hwloc_.get_nbobjs_by_depth(topology_, depth); ++i) {
      const cpu_set_t cpus = of(*hwloc_.get_obj_by_depth(topology_, depth, i), allowed);
      if (CPU_COUNT(&cpus) != 0) places.push_back(cpus);
    }
    return places;
  }

 private:
  cpu_set_t of(const hwloc_obj& object, const cpu_set_t& allowed) const {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (int cpu = hwloc_.bitmap_next(object.cpuset, -1); cpu >= 0 && cpu < CPU_SETSIZE;
         cpu = hwloc_.bitmap_next(object.cpuset, cpu))
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &cpus);
    return cpus;
  }

  const HwlocLibrary& hwloc_;
  hwloc_topology_t topology_ = nullptr;
  bool is_there_ = false;
};

std::vector<cpu_set_t> places_of_hwloc(PlaceKind kind, const cpu_set_t& allowed) {
  const HwlocLibrary* const hwloc = HwlocLibrary::get();
  if (hwloc == nullptr) return {};
  return Topology(*hwloc).places(kind == PlaceKind::kCore ? HWLOC_OBJ_CORE : HWLOC_OBJ_NUMANODE,
                                 allowed);
}

#else

std::vector<cpu_set_t> places_of_hwloc(PlaceKind, const cpu_set_t&) { return {}; }

#endif

}  // namespace

// A machine may also hide its cores from hwloc (some virtual ones do).
std::vector<cpu_set_t> cpu_places(PlaceKind kind, const cpu_set_t& allowed) {
  std::vector<cpu_set_t> places = places_of_hwloc(kind, allowed);
  return places.empty() ? places_in_system_order(kind, allowed) : places;
}

}  // namespace chime::topology
