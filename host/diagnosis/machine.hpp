// A machine, as checks see it.
#pragma once

#include "host/diagnosis/probes.hpp"
#include "host/diagnosis/root.hpp"
#include "host/settings/env.hpp"

namespace chime::doctor {

struct Machine {
  Root root;
  Probes probes;
  host::Settings settings;  // by the environment's variables, without those that are refused
};

}  // namespace chime::doctor
