// The transports of a PE, in the order of preference.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "host/settings/env.hpp"
#include "host/transport/setup.hpp"

namespace chime::host {

struct TransportKind {
  const char* opening;  // the steps of init, as errors name them
  const char* connecting;
  const char* viewing;
  // Null: it is not wanted, on any PE of the job. Throws Error.
  std::unique_ptr<Transport> (*open)(const TransportSetup& setup);
  // Null, or a sentence about this machine where it is wanted and cannot be opened.
  std::string (*why_none)(const Settings& settings);
};

std::span<const TransportKind> transport_kinds();

// What chime-doctor would say of a transport that is not there, or of what makes one slow, and the
// remedy; empty: nothing. Read files.
std::string diagnosis_of(const Transport& transport, const Settings& settings);
std::string diagnosis_of(const Shortfall& shortfall, const Settings& settings);

}  // namespace chime::host
