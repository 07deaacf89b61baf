// libhwloc, loaded when somebody asks for the machine's topology, so that neither the library nor a
// tool needs it to start.
#pragma once

#include <string>

namespace chime::topology {

// Empty if the library is there and fits; else why not, and what to do.
std::string why_no_hwloc();

}  // namespace chime::topology

#ifdef CHIME_HAVE_HWLOC

#include <hwloc.h>

namespace chime::topology {

// The functions that are used, under their own names.
struct HwlocLibrary {
  // Null if why_no_hwloc() says why.
  static const HwlocLibrary* get();

  decltype(&::hwloc_get_api_version) get_api_version;
  decltype(&::hwloc_topology_init) topology_init;
  decltype(&::hwloc_topology_set_flags) topology_set_flags;
  decltype(&::hwloc_topology_set_io_types_filter) topology_set_io_types_filter;
  decltype(&::hwloc_topology_set_components) topology_set_components;
  decltype(&::hwloc_topology_load) topology_load;
  decltype(&::hwloc_topology_destroy) topology_destroy;
  decltype(&::hwloc_get_type_depth) get_type_depth;
  decltype(&::hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth;
  decltype(&::hwloc_get_obj_by_depth) get_obj_by_depth;
  decltype(&::hwloc_obj_type_string) obj_type_string;
  decltype(&::hwloc_bitmap_next) bitmap_next;
};

}  // namespace chime::topology

#endif
