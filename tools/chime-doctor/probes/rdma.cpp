#include "tools/chime-doctor/probes/network.hpp"

#ifdef CHIME_HAVE_RDMA_CORE

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/rdma_core.hpp"

namespace chime::doctor {
namespace {

using host::mlx5::rdma_core;

std::string why_no_devx(ibv_device* device) {
  mlx5dv_context_attr attributes{};
  attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  const host::mlx5::Context context(rdma_core().mlx5dv_open_device(device, &attributes));
  return context ? std::string() : std::generic_category().message(errno);
}

}  // namespace

RdmaAnswers ask_rdma() {
  RdmaAnswers answers;
  try {
    int count = 0;
    ibv_device** const devices = rdma_core().ibv_get_device_list(&count);
    for (int i = 0; devices != nullptr && i < count; ++i)
      if (rdma_core().mlx5dv_is_supported(devices[i]))
        answers.why_no_devx[rdma_core().ibv_get_device_name(devices[i])] = why_no_devx(devices[i]);
    if (devices != nullptr) rdma_core().ibv_free_device_list(devices);
  } catch (const host::Error& error) {
    answers.why_not = error.message();
  }
  return answers;
}

}  // namespace chime::doctor

#else

namespace chime::doctor {

RdmaAnswers ask_rdma() {
  return {"this Chime is built without the NIC path (needs libibverbs-dev)", {}};
}

}  // namespace chime::doctor

#endif
