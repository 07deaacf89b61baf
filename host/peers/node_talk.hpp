// What the PEs of a node tell each other of the GPUs that they see (host/gpu/factory.hpp), over the
// bootstrap.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "host/gpu/factory.hpp"

namespace chime::host {

// Its hear() throws BootstrapError where a PE of the node has told nothing until `deadline`. The
// bootstrap must outlive it.
NodeTalk talk_of_gpus(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline);

}  // namespace chime::host
