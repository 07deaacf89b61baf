// The variables that PEs find in their environment.
#pragma once

#include <string>
#include <vector>

namespace chime::run {

// All are NAME=value.

// This process's own without those of a launcher around it, and `added`, each in place of one of
// the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& added);

// "NAME" with the value that it has here. Throws std::invalid_argument for one that is not set.
std::vector<std::string> with_values(std::vector<std::string> variables);

// The variables that PEs of other hosts get from here: CHIME_*, PATH and LD_LIBRARY_PATH.
std::vector<std::string> variables_for_other_hosts();

// From now on also this process's own, whose PATH says where programs are.
void set_variables(const std::vector<std::string>& variables);

}  // namespace chime::run
