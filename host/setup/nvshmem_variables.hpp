// NVSHMEM's variables, obeyed in programs by its names. Which of Chime's each stands for is in the
// table of variables (host/settings/env.hpp, `counterparts`); here is what its values mean there.
#pragma once

#include "host/setup/setup.hpp"

namespace chime::host {

// The environment for such a program: a variable of Chime's as it is, else what the first of
// NVSHMEM's that stand for it says in its place.
Source environment_of_nvshmem();

// The two parts of it, of any environment. A variable of Chime's that is set counts; what NVSHMEM's
// say that has no meaning here is left out.
std::optional<std::string> by_nvshmems_variables(std::string_view name, const Lookup& environment);

// The variable that says so: `name`, or NVSHMEM's that stands for it.
std::string set_by_nvshmems_variables(std::string_view name, const Lookup& environment);

// A sentence for each of NVSHMEM's variables in `environment` that has a counterpart and does not
// count: because that is set, too, or its value means nothing here.
std::vector<std::string> nvshmem_variable_warnings(std::span<const std::string> names,
                                                   const Lookup& environment);

}  // namespace chime::host
