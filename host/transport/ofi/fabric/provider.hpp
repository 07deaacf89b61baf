// A provider of libfabric's that can do what Chime needs: messages, and transfers to a peer's
// memory whose end says that the data is there.
#pragma once

#include <string>

#include "host/transport/ofi/fabric/library.hpp"
#include "host/transport/ofi/fabric/provider_choice.hpp"

namespace chime::host::ofi {

struct Provider {
  Info info;
  ProviderFacts facts;
};

// The first of those that are asked for. Throws Error that names those there are.
Provider choose_provider(const FabricOptions& options, const Circumstances& where);

}  // namespace chime::host::ofi
