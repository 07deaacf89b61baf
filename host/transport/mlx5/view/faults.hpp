// Why a queue pair failed, in words: what kernels and host operations have written into its
// ChannelFault.
#pragma once

#include <optional>
#include <string>

#include "chime/abi/channel.h"
#include "host/transport/mlx5/view/view.hpp"

namespace chime::host::mlx5 {

// The first published failure of a queue to `pe`, of kernels or of the host.
std::optional<abi::ChannelFault> find_fault(const View& view, int pe);

// "a write of 640 bytes by queue pair 0x41 of kernels failed at 12.345 s: ...". The time is that of
// the device's clock (on the CPU device CLOCK_MONOTONIC).
std::string describe(const abi::ChannelFault& fault);

// Ends the queue pairs that a thread has given up, so that nothing of theirs arrives later. Why
// that failed for one of them; empty if it did not.
std::string end_given_up_queues(const View& view, Connections& nic);

}  // namespace chime::host::mlx5
