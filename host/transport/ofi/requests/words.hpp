// Posted operations in words: for why_lost().
#pragma once

#include <string>

#include "host/transport/ofi/fabric/provider_choice.hpp"
#include "host/transport/ofi/requests/batch_pool.hpp"
#include "host/transport/ofi/requests/request.hpp"

namespace chime::host::ofi {

// "a put of 8 bytes to PE 1"
std::string describe(const HostRequest& wanted);

// "a put of 8 bytes to PE 1 by tcp;ofi_rxm failed: ...", and what to look for.
std::string failed(const Posted& posted, const ProviderFacts& provider, const std::string& words);

}  // namespace chime::host::ofi
