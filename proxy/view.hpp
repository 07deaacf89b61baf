// The proxy as device code sees it: FIFOs as channels in the PE's tables, one place of them for all
// peers, and the memory that both sides share. This is the only file that turns it into the structs
// that kernels read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/transport/channels/tables.hpp"
#include "proxy/fifo.hpp"
#include "proxy/layout.hpp"
#include "proxy/lost_peers.hpp"
#include "proxy/peers_at_limit.hpp"

namespace chime::proxy {

class View {
 public:
  struct Shape {
    int n_pes;
    unsigned depth;      // slots of each FIFO: a power of two
    std::uint8_t flags;  // of the FIFOs: abi::kProxyUnordered...
    std::span<std::byte> heap;
  };
  // As many FIFOs as the tables have channels of a place. `leads_to(pe)`: whether the proxy does,
  // where nobody else does; from any thread. `tables` outlive it.
  View(host::Gpu& gpu, const Shape& shape, std::function<bool(int pe)> leads_to,
       host::ChannelTables& tables);

  // All FIFOs, of kernels and of the host.
  std::span<Fifo> fifos() { return fifos_; }
  // Where host threads find whether the proxy sleeps.
  abi::ProxySleep& sleep() { return *sleep_; }

 private:
  struct Pieces {
    FifoPieces shared;
    Piece<std::uint64_t> busy;
    const std::uint64_t *lost, *at_limit;
    abi::ProxySleep* sleep;  // null: its posters wake nobody
  };
  void add_fifos(const Shape& shape, const Pieces& mine, host::ContextOwner owner, unsigned place,
                 host::ChannelTables& tables);

  std::unique_ptr<host::DeviceMemory> busy_memory_, host_memory_;
  std::unique_ptr<host::DeviceMemory> staging_memory_;  // null: requests' memory is another's
  std::unique_ptr<LostPeers> lost_;
  std::unique_ptr<PeersAtLimit> at_limit_;
  abi::ProxySleep* sleep_ = nullptr;
  std::vector<Fifo> fifos_;
};

}  // namespace chime::proxy
