#include "host/team/rendezvous.hpp"

#include <chrono>
#include <utility>

#include "host/team/mapped_rendezvous.hpp"
#include "host/team/message_rendezvous.hpp"
#include "host/team/side_messenger.hpp"

namespace chime::host {
namespace {

// A node's PEs map each other's control pages, also where they do not map heaps.
bool all_mapped(const PeerTable& peers) {
  for (int pe = 0; pe < peers.n_pes(); ++pe)
    if (!peers.control(pe)) return false;
  return true;
}

}  // namespace

std::unique_ptr<Rendezvous> make_rendezvous(bootstrap::Bootstrap& bootstrap, const PeerTable& peers,
                                            const abi::AbortWord& abort, const Settings& settings) {
  if (all_mapped(peers)) return make_mapped_rendezvous(peers, settings.wait_timeout_ns);
  auto side =
      std::make_unique<SideMessenger>(bootstrap, settings.bootstrap_interface,
                                      std::chrono::ceil<std::chrono::milliseconds>(
                                          std::chrono::nanoseconds(settings.init_timeout_ns)));
  return std::make_unique<MessageRendezvous>(std::move(side), abort, settings.wait_timeout_ns);
}

}  // namespace chime::host
