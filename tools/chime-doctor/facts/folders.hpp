// What is in the folders of PATH and LD_LIBRARY_PATH. A look into a folder of a network file system
// whose server is gone does not return: on this machine a separate process looks.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "host/diagnosis/probes.hpp"
#include "host/diagnosis/root.hpp"

namespace chime::doctor {

using Environment = std::map<std::string, std::string>;

bool is_in_path(const std::string& program, const Root& root, const Environment& environment);

// The first libchime.so that the loader finds by LD_LIBRARY_PATH for programs of this interface;
// else the first of another one, which a program that was built with it loads. Its file is called
// by its version. Absent: none is there, and programs load the one that they were linked with.
std::optional<FoundLibrary> library_by_path(const Root& root, const Environment& environment);

}  // namespace chime::doctor
