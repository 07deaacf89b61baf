// How the queue pairs of a job are brought together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/transport/mlx5/queues/queue_pair.hpp"

namespace chime::host::mlx5 {

// What a PE tells its peers about its NIC and heap.
struct Card {
  std::string why_none;  // not empty: this PE has no NIC, and nothing below counts
  PortAddress port;
  std::uint64_t heap = 0;  // address of the heap's start in work requests
  std::uint64_t heap_bytes = 0;
  std::uint32_t key = 0;         // for data
  std::uint32_t strict_key = 0;  // for signals, atomics and small puts
  bool is_relaxed = false;       // data may overtake data
  std::uint32_t psn = 0;         // first packet's number of all its queue pairs
  std::uint32_t reads = 0;       // reads and atomics on their way that it can answer
  std::uint32_t slots = 0;
  std::vector<std::uint32_t> qpn;  // [n_pes * slots]: its queue pair for each peer and slot
};

// Bytes on the wire between PEs of one version of Chime; read throws Error for any other.
bootstrap::Bytes write_card(const Card& card);
Card read_card(int pe, std::span<const std::byte> bytes);

// What a connector connects: the queue pairs of one PE.
class Connectable {
 public:
  virtual ~Connectable() = default;
  virtual Card card() const = 0;
  // `pe` may be this PE itself.
  virtual void connect(int pe, const Card& theirs) = 0;
  // Of what is written to this PE by any peer; once all are connected.
  virtual DataOrder data_order() const = 0;
  // What `pe` says of what is written to it.
  virtual void learn_order(int pe, DataOrder order) = 0;
};

class Connector {
 public:
  virtual ~Connector() = default;
  // Collective. After it, every peer whose card says so can be written to. Throws Error or
  // BootstrapError, at `deadline` at the latest.
  virtual void connect(Connectable& mine, bootstrap::Deadline deadline) = 0;
};

// All pairs at once, through cards that the bootstrap carries.
std::unique_ptr<Connector> make_init_connector(bootstrap::Bootstrap& bootstrap);

}  // namespace chime::host::mlx5
