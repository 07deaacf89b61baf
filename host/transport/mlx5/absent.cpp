// The NIC path of a build without rdma-core's headers.
#include "host/errors/error.hpp"
#include "host/transport/mlx5/no_nic.hpp"
#include "host/transport/mlx5/open.hpp"

namespace chime::host {

std::unique_ptr<Transport> open_mlx5(const TransportSetup& setup) {
  const NicOptions& options = setup.nic;
  if (options.is_off() || (options.is_auto() && setup.reaches_all)) return nullptr;
  const char* const why =
      "this libchime was built without rdma-core; configure it where libibverbs-dev is installed";
  if (!options.is_auto()) throw Error("CHIME_NIC", CHIMEX_ERR_UNSUPPORTED, why);
  return std::make_unique<mlx5::NoNic>(why);
}

}  // namespace chime::host
