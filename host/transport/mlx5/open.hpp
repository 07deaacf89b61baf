// The NIC path as the rest of the host opens it. Without rdma-core's headers at build time
// absent.cpp stands in.
#pragma once

#include <memory>

#include "host/transport/setup.hpp"

namespace chime::host {

// Null where the settings ask for none, or where no PE needs one. Otherwise it takes part in the
// job's connecting, if only to say why there is none here (CHIME_NIC=auto). Throws Error where the
// NIC that is asked for cannot be used.
std::unique_ptr<Transport> open_mlx5(const TransportSetup& setup);

}  // namespace chime::host
