#include "host/transport/mlx5/queues/queue_choice.hpp"

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

// CQEs and the results that CQEs report lie in one memory: kernels must find these in order.
constexpr char kUnordered[] =
    "this GPU's driver does not say that kernels find a NIC's writes in order "
    "(GPU_DIRECT_RDMA_WRITES_ORDERING); a newer driver may";

constexpr char kDevxAdvice[] =
    "; see the permissions of /dev/infiniband in this container, and the NIC's firmware";

}  // namespace

QueueChoice in_host_memory(NicBackend asked, const std::string& why) {
  const bool by_devx = asked == NicBackend::kDevx;
  return {by_devx ? NicBackend::kDevx : NicBackend::kVerbs, QueuePlace::kHost, why};
}

QueueChoice choose_queues(NicBackend asked, const QueueAbilities& abilities) {
  const bool has_devx = abilities.why_no_devx.empty();
  if (asked == NicBackend::kDevx && !has_devx)
    throw Error("CHIME_NIC_BACKEND", CHIMEX_ERR_UNSUPPORTED,
                "devx is asked for, but " + abilities.why_no_devx +
                    "; CHIME_NIC_BACKEND=verbs does without");
  // The CPU device's memory is the host's: verbs leaves more to the kernel's driver.
  if (abilities.is_cpu && asked != NicBackend::kDevx) return in_host_memory(asked, "");
  if (asked == NicBackend::kVerbs) return in_host_memory(asked, "CHIME_NIC_BACKEND=verbs");
  if (!has_devx) return in_host_memory(asked, abilities.why_no_devx + kDevxAdvice);
  if (!abilities.orders_device_writes) return in_host_memory(asked, kUnordered);
  return {NicBackend::kDevx, QueuePlace::kDevice, ""};
}

}  // namespace chime::host::mlx5
