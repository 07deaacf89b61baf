// The facts that a PE gives its peers about its NIC and heap, and its offer to one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/transport/mlx5/queues/queue_pair.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::mlx5 {

struct EndpointInfo {
  std::string why_none;  // not empty: this PE has no NIC, and nothing below counts
  PortAddress port;
  std::uint64_t heap = 0;  // address of the heap's start in work requests
  std::uint64_t heap_bytes = 0;
  std::uint32_t key = 0;         // for data
  std::uint32_t strict_key = 0;  // for signals, atomics and small puts
  bool is_relaxed = false;       // data may overtake data
  std::uint32_t psn = 0;         // first packet's number of all its queue pairs
  std::uint32_t reads = 0;       // reads and atomics in flight that it can answer
  std::uint32_t slots = 0;       // queue pairs to each peer
};

// Bytes on the wire between PEs of one version of Chime; the readers throw Error for any other. A
// long reason is cut to what an endpoint info may hold.
EndpointInfoBytes write_endpoint_info(const EndpointInfo& endpoint_info);
EndpointInfo read_endpoint_info(int pe, std::span<const std::byte> bytes);

// An offer: the numbers of its queue pairs for that peer, by slot.
EndpointInfoBytes write_offer(std::span<const std::uint32_t> queue_pairs);
std::vector<std::uint32_t> read_offer(int pe, std::span<const std::byte> bytes);

// A receipt: whether what that peer writes is placed in order. A queue pair knows only when it is
// connected.
EndpointInfoBytes write_receipt(DataOrder order);
DataOrder read_receipt(int pe, std::span<const std::byte> bytes);

}  // namespace chime::host::mlx5
