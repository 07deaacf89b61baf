#include "host/transport/ofi/open.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "host/transport/ofi/no_fabric.hpp"
#include "host/transport/ofi/transport.hpp"

namespace chime::host {

// With CHIME_FABRIC=auto a fabric that cannot be used is no error: peers learn the reason.
// Decisions before that are alike on all PEs.
std::unique_ptr<Transport> open_ofi(const TransportSetup& setup) {
  const FabricOptions& options = setup.fabric;
  if (options.is_off() || (options.is_auto() && setup.reaches_all)) return nullptr;
  EndpointInfoFinder* const endpoint_infos =
      options.opens_on_demand(setup.n_pes) ? setup.fabric_endpoint_infos : nullptr;
  try {
    ofi::Provider provider =
        ofi::choose_provider(options, {setup.is_one_node, !setup.gpu.is_cpu()});
    return std::make_unique<OfiTransport>(
        ofi::PePlace{setup.my_pe, setup.n_pes, options.timeout_ns}, setup.gpu, *setup.heap,
        std::move(provider), endpoint_infos);
  } catch (const Error& error) {
    if (!options.is_auto()) throw;
    return std::make_unique<ofi::NoFabric>(error.what(), endpoint_infos != nullptr);
  }
}

}  // namespace chime::host
