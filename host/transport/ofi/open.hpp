// Fabrics as the rest of the host opens them. Without libfabric's headers at build time absent.cpp
// stands in.
#pragma once

#include <memory>

#include "host/transport/setup.hpp"

namespace chime::host {

// Null where the settings ask for none, or where no PE needs one. Otherwise it takes part in the
// job's connecting, if only to say why there is none here (CHIME_FABRIC=auto). Throws Error where
// the provider that is asked for cannot be used.
std::unique_ptr<Transport> open_ofi(const TransportSetup& setup);

}  // namespace chime::host
