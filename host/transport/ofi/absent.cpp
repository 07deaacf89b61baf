// Fabrics of a build without libfabric's headers.
#include "host/errors/error.hpp"
#include "host/transport/ofi/no_fabric.hpp"
#include "host/transport/ofi/open.hpp"

namespace chime::host {

std::unique_ptr<Transport> open_ofi(const TransportSetup& setup) {
  const FabricOptions& options = setup.fabric;
  if (options.is_off() || (options.is_auto() && setup.reaches_all)) return nullptr;
  const char* const why =
      "this libchime was built without libfabric; configure it where libfabric-dev is installed";
  if (!options.is_auto()) throw Error("CHIME_FABRIC", CHIMEX_ERR_UNSUPPORTED, why);
  return std::make_unique<ofi::NoFabric>(why, options.opens_on_demand(setup.n_pes));
}

}  // namespace chime::host
