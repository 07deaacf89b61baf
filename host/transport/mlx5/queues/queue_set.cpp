#include "host/transport/mlx5/queues/queue_set.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/mlx5_mr.hpp"
#include "host/transport/mlx5/queues/mlx5_devx.hpp"
#include "host/transport/mlx5/queues/mlx5_qp.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::size_t kPage = Slab::kPage;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

bool is_devx(const QueueSetPlan& plan) { return plan.backend == NicBackend::kDevx; }

unsigned n_queue_pairs(const QueueSetPlan& plan) { return plan.places * plan.slots; }

std::size_t slab_bytes(const QueueSetPlan& plan, unsigned depth) {
  const std::size_t each = is_devx(plan) ? devx_bytes(depth) : verbs_bytes(depth);
  return whole_pages(plan.scratch_bytes) + n_queue_pairs(plan) * each;
}

}  // namespace

QueueSet::QueueSet(const Device& device, Gpu& gpu, const QueueSetPlan& plan, Doorbells doorbells)
    : plan_(plan),
      slab_(gpu, plan.place, slab_bytes(plan, device.options().queue_depth)),
      scratch_(slab_.take(plan.scratch_bytes, kPage)),
      key_(register_buffer(device, gpu, slab_.address(), slab_.bytes())),
      backend_(is_devx(plan) ? make_devx_backend(device, slab_, doorbells_)
                             : make_verbs_backend(device, slab_, doorbells_)),
      doorbells_(std::move(doorbells)) {
  for (unsigned i = 0; i < n_queue_pairs(plan); ++i) {
    queue_pairs_.push_back(backend_->make_queue_pair());
    check_memory(queue_pairs_.back()->view());
  }
  doorbell_writer_ = doorbells_.start();
}

// Results of atomics and staged reads lie in the scratch memory, so in the slab, and PCIe keeps a
// NIC's writes to one memory in order. Completions elsewhere might come before the results that
// they report: fetch.cuh and stage.cuh in device/path/nic ask for no flush.
void QueueSet::check_memory(const QueuePairView& view) const {
  if (slab_.holds(view.completions)) return;
  throw Error(
      "NIC", CHIMEX_ERR_UNSUPPORTED,
      fmt::format("completions of the {} backend lie at {}, outside of the queue memory, "
                  "and may come before the results that they report; choose another one with "
                  "CHIME_NIC_BACKEND",
                  backend_->name(), static_cast<const void*>(view.completions)));
}

}  // namespace chime::host::mlx5
