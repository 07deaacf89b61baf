#include "host/topology/cpu_places.hpp"

#include "host/topology/loaded_topology.hpp"

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

std::vector<cpu_set_t> places_of_hwloc(PlaceKind kind, const cpu_set_t& allowed) {
  std::vector<cpu_set_t> places;
  const HwlocLibrary* const hwloc = HwlocLibrary::get();
  if (hwloc == nullptr) return places;
  const LoadedTopology topology(*hwloc, LookFor::kProcessors);
  if (!topology.is_there()) return places;
  const auto type = kind == PlaceKind::kCore ? HWLOC_OBJ_CORE : HWLOC_OBJ_NUMANODE;
  const int depth = hwloc->get_type_depth(topology.get(), type);
  for (unsigned i = 0; i < hwloc->get_nbobjs_by_depth(topology.get(), depth); ++i) {
    cpu_set_t cpus = processors_of(*hwloc, *hwloc->get_obj_by_depth(topology.get(), depth, i));
    CPU_AND(&cpus, &cpus, &allowed);
    if (CPU_COUNT(&cpus) != 0) places.push_back(cpus);
  }
  return places;
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
