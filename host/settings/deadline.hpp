// How long the start of a job may take.
#pragma once

#include <chrono>

#include "bootstrap/bootstrap.hpp"
#include "host/settings/env.hpp"

namespace chime::host {

// CHIME_INIT_TIMEOUT from now.
inline bootstrap::Deadline init_deadline(const Settings& settings) {
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(settings.init_timeout_ns);
}

}  // namespace chime::host
