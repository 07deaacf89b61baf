#include "host/transport/ofi/open.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "host/transport/ofi/no_fabric.hpp"
#include "host/transport/ofi/transport.hpp"

namespace chime::host {
namespace {

// What Chime cannot do yet, whatever the provider can.
void refuse_for_a_gpu(const Gpu& gpu) {
  if (!gpu.is_cpu())
    throw Error("CHIME_FABRIC", CHIMEX_ERR_UNSUPPORTED,
                "a fabric carries no requests of kernels on a GPU yet; peers on other nodes take a "
                "NIC (CHIME_NIC)");
}

}  // namespace

// With CHIME_FABRIC=auto a fabric that cannot be used is no error: peers are told the reason. What
// is decided before that is alike on all PEs.
std::unique_ptr<Transport> open_ofi(const TransportSetup& setup) {
  const FabricOptions& options = setup.fabric;
  if (options.is_off() || (options.is_auto() && setup.reaches_all)) return nullptr;
  CardFinder* const cards = options.opens_on_demand(setup.n_pes) ? setup.fabric_cards : nullptr;
  try {
    ofi::Provider provider =
        ofi::choose_provider(options, {setup.is_one_node, !setup.gpu.is_cpu()});
    refuse_for_a_gpu(setup.gpu);
    return std::make_unique<OfiTransport>(
        ofi::PePlace{setup.my_pe, setup.n_pes, options.timeout_ns}, setup.gpu, *setup.heap,
        std::move(provider), cards);
  } catch (const Error& error) {
    if (!options.is_auto()) throw;
    return std::make_unique<ofi::NoFabric>(error.what(), cards != nullptr);
  }
}

}  // namespace chime::host
