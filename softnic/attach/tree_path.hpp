// The location of the device trees that the build writes (make_sysfs.cpp): beside libsoftnic.so,
// one for each kind of port. They never change, so programs make none and leave none behind.
#pragma once

#include <filesystem>

namespace softnic {

inline std::filesystem::path tree_beside(const std::filesystem::path& library, bool ethernet) {
  return library.parent_path() / "softnic.sysfs" / (ethernet ? "ethernet" : "infiniband");
}

}  // namespace softnic
