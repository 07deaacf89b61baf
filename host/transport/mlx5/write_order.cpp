#include "host/transport/mlx5/write_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chime::host::mlx5 {
namespace {

const char* words(bool swaps) {
  return swaps ? "signals behind data are masked swaps" : "signals wait for their data";
}

}  // namespace

bool counts_on_order(NicWriteOrder choice, DataOrder peer) {
  if (choice == NicWriteOrder::kAuto) return peer == DataOrder::kInOrder;
  return choice == NicWriteOrder::kStrict;
}

std::string describe_order(NicWriteOrder choice, std::span<const DataOrder> peers, bool swaps) {
  if (choice == NicWriteOrder::kStrict) return "writes in order (CHIME_NIC_ORDER=strict)";
  if (choice == NicWriteOrder::kRelaxed)
    return fmt::format("writes in any order (CHIME_NIC_ORDER=relaxed): {}", words(swaps));
  const auto number_of = [&](DataOrder order) { return std::ranges::count(peers, order); };
  const auto in_any_order = number_of(DataOrder::kAnyOrder),
             unknown = number_of(DataOrder::kUnknown);
  if (in_any_order + unknown == 0) return "writes in order, as all NICs say";
  return fmt::format("writes in any order to {} of {} PEs ({} NICs say so, {} cannot be asked): {}",
                     in_any_order + unknown, peers.size(), in_any_order, unknown, words(swaps));
}

}  // namespace chime::host::mlx5
