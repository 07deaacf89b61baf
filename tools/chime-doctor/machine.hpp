// A machine, as checks see it.
#pragma once

#include "host/settings/env.hpp"
#include "tools/chime-doctor/probes/probes.hpp"
#include "tools/chime-doctor/root.hpp"

namespace chime::doctor {

struct Machine {
  Root root;
  Probes probes;
  host::Settings settings;  // by the environment's variables, without those that are refused
};

}  // namespace chime::doctor
