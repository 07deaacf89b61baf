#include "host/topology/hwloc_library.hpp"

#ifdef CHIME_HAVE_HWLOC

#include <dlfcn.h>

namespace chime::topology {
namespace {

constexpr char kLibrary[] = "libhwloc.so.15";  // since 2.0

struct Loaded {
  HwlocLibrary library;
  std::string why_not;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* from, HwlocLibrary& to) {
  return find(from, "hwloc_get_api_version", to.get_api_version) &&
         find(from, "hwloc_topology_init", to.topology_init) &&
         find(from, "hwloc_topology_set_flags", to.topology_set_flags) &&
         find(from, "hwloc_topology_set_io_types_filter", to.topology_set_io_types_filter) &&
         find(from, "hwloc_topology_set_components", to.topology_set_components) &&
         find(from, "hwloc_topology_load", to.topology_load) &&
         find(from, "hwloc_topology_destroy", to.topology_destroy) &&
         find(from, "hwloc_get_type_depth", to.get_type_depth) &&
         find(from, "hwloc_get_nbobjs_by_depth", to.get_nbobjs_by_depth) &&
         find(from, "hwloc_get_obj_by_depth", to.get_obj_by_depth) &&
         find(from, "hwloc_obj_type_string", to.obj_type_string) &&
         find(from, "hwloc_bitmap_next", to.bitmap_next);
}

// Objects differ between the versions whose first number differs.
bool fits(const HwlocLibrary& library) {
  return library.get_api_version() >> 16 == HWLOC_API_VERSION >> 16;
}

Loaded load() {
  Loaded loaded = {};
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    loaded.why_not = std::string(kLibrary) + " is not found here (Debian: libhwloc15)";
  else if (!find_all(library, loaded.library) || !fits(loaded.library))
    loaded.why_not = std::string(kLibrary) + " is not hwloc 2.1 or a later 2";
  return loaded;
}

// Once, and for as long as the process lives.
const Loaded& loaded() {
  static const Loaded* const once = new Loaded(load());
  return *once;
}

}  // namespace

std::string why_no_hwloc() { return loaded().why_not; }

const HwlocLibrary* HwlocLibrary::get() {
  return loaded().why_not.empty() ? &loaded().library : nullptr;
}

}  // namespace chime::topology

#else

namespace chime::topology {

std::string why_no_hwloc() { return "not compiled in (needs libhwloc-dev)"; }

}  // namespace chime::topology

#endif
