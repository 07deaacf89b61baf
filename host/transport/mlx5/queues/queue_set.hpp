// The queue pairs of kernels, or of host operations, place by place: with their memory, their
// backend, and the place of their doorbells.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/queues/doorbells.hpp"
#include "host/transport/mlx5/queues/mlx5_slab.hpp"
#include "host/transport/mlx5/queues/queue_pair.hpp"

namespace chime::host::mlx5 {

// The parts of a set.
struct QueueSetPlan {
  NicBackend backend;         // kVerbs or kDevx
  QueuePlace place;           // verbs' are the host's
  unsigned places;            // for a peer each
  unsigned slots;             // of a place
  std::size_t scratch_bytes;  // of memory for results and staging, beside the queues
};

class QueueSet {
 public:
  // `doorbells`: has not mapped any. Throws Error; then nothing of it is left.
  QueueSet(const Device& device, Gpu& gpu, const QueueSetPlan& plan, Doorbells doorbells);
  QueueSet(const QueueSet&) = delete;
  QueueSet& operator=(const QueueSet&) = delete;

  QueuePair& at(unsigned place, unsigned slot) const {
    return *queue_pairs_[std::size_t{place} * plan_.slots + slot];
  }
  unsigned size() const { return static_cast<unsigned>(queue_pairs_.size()); }

  // Zero at first; lies where the queues do. Named in requests by its address.
  std::byte* scratch() const { return scratch_; }
  std::uint32_t scratch_key() const { return key_->lkey; }

  QueuePlace place() const { return plan_.place; }
  const char* backend() const { return backend_->name(); }
  std::string describe_doorbells() const { return doorbells_.describe(); }
  const std::string& why_mailboxes() const { return doorbells_.why_mailboxes(); }

 private:
  void check_memory(const QueuePairView& view) const;

  const QueueSetPlan plan_;
  Slab slab_;
  std::byte* const scratch_;
  MemoryKey key_;
  std::unique_ptr<Backend> backend_;  // makes queue pairs once doorbells_ is there
  std::vector<std::unique_ptr<QueuePair>> queue_pairs_;  // [place][slot]
  Doorbells doorbells_;  // after the owners of its registers: these are unmapped first
  std::unique_ptr<DoorbellWriter> doorbell_writer_;  // last: it rings them
};

}  // namespace chime::host::mlx5
