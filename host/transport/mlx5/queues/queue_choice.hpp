// Which backend makes the queue pairs of kernels, and in which memory the queues lie: as
// CHIME_NIC_BACKEND and the devices have it.
//
// By devx queues may lie in a GPU's memory, where kernels write requests and find completions
// without crossing the bus; verbs' lie in the host's.
#pragma once

#include <string>

#include "host/options/nic.hpp"
#include "host/transport/mlx5/queues/mlx5_slab.hpp"

namespace chime::host::mlx5 {

struct QueueChoice {
  NicBackend backend;  // kVerbs or kDevx
  QueuePlace place;
  std::string why_host;  // why a GPU's queues lie in the host's memory; else empty
};

// The facts that are known before any queue pair is made.
struct QueueAbilities {
  bool is_cpu;                   // the device that runs kernels
  bool orders_device_writes;     // Gpu::orders_device_writes()
  std::string why_no_devx = {};  // empty: firmware commands can be sent
};

// Throws Error where devx is asked for and cannot be.
QueueChoice choose_queues(NicBackend asked, const QueueAbilities& abilities);

// The choice that is left when the first choice, in the device's memory, could not be made.
QueueChoice in_host_memory(NicBackend asked, const std::string& why);

}  // namespace chime::host::mlx5
