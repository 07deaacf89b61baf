// Whether writes of one queue pair are placed at the peer in the order in which they were posted.
//
// With adaptive routing packets overtake each other on their way, and a NIC may place them as they
// come. Who gets them knows: a PE asks its own queue pairs, and tells its peers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host/options/nic.hpp"

namespace chime::host::mlx5 {

// What a PE's queue pairs say of what is written to them.
enum class DataOrder : std::uint8_t {
  kNoNic,     // nothing is
  kInOrder,   // it is placed as it was posted
  kAnyOrder,  // or it may not be
  kUnknown,   // neither rdma-core nor the firmware can be asked
};

// Whether a PE counts on order at a peer: by CHIME_NIC_ORDER, or as the peer says. What nobody
// promises is not counted on.
bool counts_on_order(NicWriteOrder choice, DataOrder peer);

// "writes in order, as all NICs say". `peers`: [pe]. `swaps`: signals behind data are masked swaps
// where there is no order, else they wait for the data.
std::string describe_order(NicWriteOrder choice, std::span<const DataOrder> peers, bool swaps);

}  // namespace chime::host::mlx5
