// A queue pair as both backends make it: what kernels see of it, and what the host may do to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/transport/mlx5/write_order.hpp"

namespace chime::host::mlx5 {

enum class CompletionMode {
  kRing,       // entries with owner bits (verbs)
  kCollapsed,  // every completion overwrites the one entry (DevX)
};

// Addresses are device code's.
struct QueuePairView {
  std::byte* send_queue = nullptr;  // 2^log2_blocks blocks of 64 bytes
  unsigned log2_blocks = 0;
  std::uint32_t* send_record = nullptr;  // big-endian count of blocks reported to the NIC
  std::uint64_t* doorbell = nullptr;     // register; one store of 8 bytes rings
  std::byte* completions = nullptr;      // 2^log2_completions entries of 64 bytes, 0xff at first
  unsigned log2_completions = 0;
  CompletionMode mode = CompletionMode::kRing;
  std::uint32_t qpn = 0;
};

using Gid = std::array<std::byte, 16>;

// A port as its peers must know it.
struct PortAddress {
  std::uint8_t ethernet = 0;  // RoCE v2
  std::uint8_t mtu = 0;       // 1: 256 bytes .. 5: 4096
  std::uint16_t lid = 0;      // InfiniBand
  Gid gid{};
};

// The route from one queue pair to another.
struct Route {
  PortAddress remote;
  std::uint32_t remote_qpn = 0;
  std::uint32_t send_psn = 0;
  std::uint32_t receive_psn = 0;
  unsigned reads = 0;  // reads and atomics in flight at a time
};

class QueuePair {
 public:
  virtual ~QueuePair() = default;
  virtual const QueuePairView& view() const = 0;

  // From the state that it was made in to ready to send. Throws Error.
  virtual void connect(const Route& route) = 0;

  // The order of its peer's writes to it, as the device says. Once it is connected.
  virtual DataOrder data_order() = 0;

  // Its requests that are not done are flushed with error completions; later ones too.
  virtual void to_error() = 0;
};

// A backend that makes queue pairs: mlx5_qp.cpp (verbs objects) or mlx5_devx.cpp (firmware
// commands).
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual std::unique_ptr<QueuePair> make_queue_pair() = 0;
};

}  // namespace chime::host::mlx5
