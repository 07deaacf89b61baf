// Exchanges which GPUs each PE of a node sees (host/gpu/factory.hpp), over the bootstrap.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "host/gpu/factory.hpp"

namespace chime::host {

// Its hear() throws BootstrapError if a PE of the node has published nothing until `deadline`. The
// bootstrap must outlive it.
NodeTalk talk_of_gpus(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline);

}  // namespace chime::host
