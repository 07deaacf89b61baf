#include "host/transport/mlx5/open.hpp"

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/rdma_sysfs.hpp"
#include "host/transport/mlx5/no_nic.hpp"
#include "host/transport/mlx5/transport.hpp"

namespace chime::host {

// With CHIME_NIC=auto a NIC that cannot be used is no error: peers learn the reason.
//
// Wanted or not is the same answer on every PE: a NIC is asked for on all of them; and with auto,
// either all PEs run on one node that maps them, or each has a peer that is not mapped.
std::unique_ptr<Transport> open_mlx5(const TransportSetup& setup) {
  const NicOptions& options = setup.nic;
  if (options.is_off() || (options.is_auto() && setup.reaches_all)) return nullptr;
  const bool on_demand = options.opens_on_demand(setup.n_pes);
  if (options.is_auto() && !mlx5::has_rdma_devices())
    return std::make_unique<mlx5::NoNic>("this machine has no RDMA device", on_demand);
  try {
    return std::make_unique<Mlx5Transport>(
        mlx5::NicPlace{setup.my_pe, setup.n_pes, setup.job, setup.node_pe}, setup.gpu, *setup.heap,
        options,
        [report = setup.lost_own_path](const std::string& why) { report(Path::kNic, why); });
  } catch (const Error& error) {
    if (!options.is_auto()) throw;
    return std::make_unique<mlx5::NoNic>(error.what(), on_demand);
  }
}

}  // namespace chime::host
