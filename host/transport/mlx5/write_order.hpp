// Whether writes of one queue pair are placed at the peer in the order of posting.
//
// With adaptive routing packets overtake each other, and a NIC may place them in the order of
// arrival. The receiver knows: a PE asks its own queue pairs, and informs its peers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host/options/nic.hpp"

namespace chime::host::mlx5 {

// The order of the writes to a PE's queue pairs.
enum class DataOrder : std::uint8_t {
  kNoNic,     // nothing is
  kInOrder,   // it is placed as it was posted
  kAnyOrder,  // or it may not be
  kUnknown,   // neither rdma-core nor the firmware can be asked
};

// Whether a PE counts on order at a peer: by CHIME_NIC_ORDER, or as the peer says. An order that
// nobody promises is not counted on.
bool counts_on_order(NicWriteOrder choice, DataOrder peer);

// "writes in order, as all NICs say". `peers`: [pe]. `swaps`: where there is no order,
// signals behind data are masked swaps if it is true, and wait for the data if it is false.
std::string describe_order(NicWriteOrder choice, std::span<const DataOrder> peers, bool swaps);

}  // namespace chime::host::mlx5
