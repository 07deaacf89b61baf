// One look of hwloc at the machine.
#pragma once

#include <sched.h>

#include "host/topology/hwloc_library.hpp"

#ifdef CHIME_HAVE_HWLOC

namespace chime::topology {

enum class LookFor { kProcessors, kDevicesToo };

class LoadedTopology {
 public:
  LoadedTopology(const HwlocLibrary& hwloc, LookFor what);
  ~LoadedTopology();
  LoadedTopology(const LoadedTopology&) = delete;
  LoadedTopology& operator=(const LoadedTopology&) = delete;

  bool is_there() const { return is_there_; }
  hwloc_topology_t get() const { return topology_; }

 private:
  const HwlocLibrary& hwloc_;
  hwloc_topology_t topology_ = nullptr;
  bool is_there_ = false;
};

cpu_set_t processors_of(const HwlocLibrary& hwloc, const hwloc_obj& object);

}  // namespace chime::topology

#endif
