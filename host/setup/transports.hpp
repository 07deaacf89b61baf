// The transports of a PE, in the order of preference.
#pragma once

#include <memory>
#include <span>

#include "host/transport/setup.hpp"

namespace chime::host {

struct TransportKind {
  const char* opening;  // the steps of init, as errors name them
  const char* connecting;
  const char* viewing;
  // Null: it is not wanted, on any PE of the job. Throws Error.
  std::unique_ptr<Transport> (*open)(const TransportSetup& setup);
};

std::span<const TransportKind> transport_kinds();

}  // namespace chime::host
