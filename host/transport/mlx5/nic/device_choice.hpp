// Which NIC and port a PE uses, and why: a pure function of what the machine has.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "host/topology/place.hpp"
#include "host/transport/mlx5/nic/rdma_sysfs.hpp"

namespace chime::host::mlx5 {

struct Candidate {
  std::string name;
  bool is_mlx5;
  std::filesystem::path directory;  // /sys/class/infiniband/<name>
  std::vector<PortState> ports;
  topology::Place place{};  // see nic_places.hpp
};

// The place that the NIC shall be near.
struct Goal {
  topology::Place place;
  std::string what;              // "GPU 0000:81:00.0"
  std::string why_not_by_hwloc;  // where sysfs gave the places; else empty
};

struct ChosenPort {
  std::size_t device;  // index of the candidate
  int port;
  std::string why{};  // "nearest to GPU 0000:81:00.0: both in package 1"
};

// Whether it matters where the devices are: `wanted` is "auto", and several have an active port.
bool nearness_decides(std::span<const Candidate> candidates, const std::string& wanted);

// `wanted`: "auto" or "soft" (the active mlx5 port that is nearest to `goal`; among those of
// equally near devices the one whose turn it is: `turn` counts the node's PEs from 0), or "<name>"
// or
// "<name>:<port>". Throws Error that names the devices that are there.
ChosenPort choose_port(std::span<const Candidate> candidates, const std::string& wanted,
                       const Goal& goal, int turn);

}  // namespace chime::host::mlx5
