// Peers whose memory is mapped here: node mates on the CPU device, GPUs that can map each other.
//
// A node mate that is a thread of this process is not mapped a second time: both use the one
// mapping, so that tools (TSan) and humans see one address for one word.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/peer_watch.hpp"
#include "host/gpu/gpu.hpp"
#include "host/transport/p2p/p2p_groups.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// This PE's memory, as it is offered to node mates. Shared: thread mates keep it mapped while they
// use it.
struct OfferedMemory {
  std::shared_ptr<DeviceMemory> heap;
  std::shared_ptr<DeviceMemory> control;  // host-visible words of this PE (host/peers/control.hpp)
};

class P2pTransport final : public Transport {
 public:
  // Collective over the node's PEs. Heaps of PEs of this PE's group are mapped; without groups
  // nothing is exchanged or mapped.
  P2pTransport(const bootstrap::Bootstrap& bootstrap, Gpu& gpu, OfferedMemory mine,
               P2pGroups groups, bootstrap::Deadline deadline);

  Path path() const override { return Path::kP2p; }
  bool reaches(int pe) const override { return heap(pe) != nullptr; }
  std::string why_not(int pe) const override;

  // The node's other PEs as they showed themselves; none without groups.
  const std::vector<bootstrap::KnownMate>& mates() const { return mates_; }

  // Where the memory of `pe` is mapped here, this PE's own included; null if it is not.
  std::byte* heap(int pe) const { return address(peers_[static_cast<std::size_t>(pe)].heap); }
  std::byte* control(int pe) const { return address(peers_[static_cast<std::size_t>(pe)].control); }

 private:
  static std::byte* address(const std::shared_ptr<DeviceMemory>& memory) {
    return memory ? memory->address() : nullptr;
  }
  void map_node(const bootstrap::Bootstrap& bootstrap, Gpu& gpu, bootstrap::Deadline deadline);

  P2pGroups groups_;
  int my_pe_;
  std::vector<OfferedMemory> peers_;  // [n_pes]
  std::vector<bootstrap::KnownMate> mates_;
};

}  // namespace chime::host
