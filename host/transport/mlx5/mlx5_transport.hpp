// Peers that kernels reach by writing to the NIC's queues: one mlx5 port, the heap registered with
// it, and queue pairs to every PE, this one included.
//
// In two steps, both in chime_init: the constructor opens and makes everything that this PE can
// make alone; connect() is collective. Without rdma-core's headers at build time mlx5_absent.cpp
// stands in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/options.hpp"
#include "host/transport/mlx5/queues/queue_pair.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// Beside the queue pairs for kernels there is one to each peer for host operations, in the slot
// behind theirs: kernels never touch it.
inline constexpr unsigned kHostQueuePairs = 1;
enum class QueueOwner { kKernels, kHost };

// This PE in its job.
struct NicPlace {
  int my_pe;
  int n_pes;
  std::string job;  // names the softnic's fabric
  int node_pe = 0;  // its place among the PEs of its node
};

// A PE's heap as work requests name it.
struct NicHeap {
  std::uint64_t start = 0;  // the address of its first byte
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;         // remote key for data; of this PE's own heap the local key, too
  std::uint32_t strict_key = 0;  // for signals and atomics: they never overtake data
  bool is_relaxed = false;       // data may overtake data
};

// Memory that an owner's requests use beside the queues (results of atomics, staging): registered
// for this PE's own requests, by its address. Zero at first; the host may be unable to touch that
// of kernels.
struct NicScratch {
  std::byte* memory = nullptr;
  std::uint32_t key = 0;
};
struct ScratchBytes {
  std::size_t kernels = 0, host = 0;
};

// Memory of this PE that its own requests may name, by its address. Given back on destruction.
class NicRegistration {
 public:
  virtual ~NicRegistration() = default;
  virtual std::uint32_t key() const = 0;
};

class Mlx5Transport final : public Transport {
 public:
  // With options.is_auto() a NIC that cannot be used is no error: why_not() says the reason.
  // Otherwise throws Error. `scratch`: how much NicScratch there shall be.
  Mlx5Transport(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                const NicOptions& options, const ScratchBytes& scratch);
  ~Mlx5Transport() override;

  // Collective over the job's PEs that have this transport: returns when all can be written to.
  void connect(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline);

  Path path() const override { return Path::kNic; }
  bool reaches(int pe) const override;
  std::string why_not(int pe) const override;

  // For PEs that it reaches.
  NicHeap heap(int pe) const;
  const mlx5::QueuePairView& queue_pair(int pe, unsigned slot) const;
  // Ends a queue pair that is given up: whatever is in it is flushed. Nothing if it has ended; from
  // any thread.
  void to_error(int pe, unsigned slot);

  // Whether there is a NIC: with options.is_auto() there may be none.
  bool is_open() const;
  NicHeap own_heap() const;
  unsigned slots() const;  // options.slots + kHostQueuePairs
  NicScratch scratch(QueueOwner owner) const;
  // Throws Error with what the system says and the limit to raise.
  std::unique_ptr<NicRegistration> register_buffer(std::byte* memory, std::size_t bytes);
  // Whether this PE takes it that its writes to `pe` arrive in the order in which they were posted.
  bool counts_on_order(int pe) const;
  bool has_masked_atomics() const;
  bool results_8_big_endian() const;  // of 8-byte atomics; 4-byte ones always are

  // "mlx5_0 port 1 (the only active mlx5 port), InfiniBand, LID 7; queue pairs of 1024 blocks: 4 of
  // kernels by devx in the device's memory, 2 of the host by verbs; heap registered as host memory;
  // doorbells rung by kernels; writes in order, as all NICs say"; or why there is none.
  std::string describe() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Whether this machine has any RDMA device, as sysfs says. Loads nothing.
bool nic_may_be_here();

}  // namespace chime::host
