// Which libchime.so do programs load?
#pragma once

#include <optional>
#include <string>

#include "host/diagnosis/machine.hpp"

namespace chime::doctor {

struct FoundLibrary {
  std::string version, folder;
};

// The first that the loader finds by LD_LIBRARY_PATH: its file is called by its version. Absent:
// none is there, and programs load the one that they were linked with.
std::optional<FoundLibrary> library_by_path(const Machine& machine);

}  // namespace chime::doctor
