#include "host/collective/rendezvous.hpp"

#include <chrono>
#include <utility>

#include "host/collective/loss_notifications.hpp"
#include "host/collective/mapped_rendezvous.hpp"
#include "host/collective/message_rendezvous.hpp"
#include "host/collective/side_messenger.hpp"

namespace chime::host {
namespace {

// A node's PEs map each other's control pages, also where they do not map heaps.
bool all_mapped(const PeerTable& peers) {
  for (int pe = 0; pe < peers.n_pes(); ++pe)
    if (!peers.control(pe)) return false;
  return true;
}

// `name`: a stage that failed may have left its endpoint info, which nobody shall find for
// another's.
std::unique_ptr<Messenger> side_messenger(bootstrap::Bootstrap& bootstrap, std::string name,
                                          const Settings& settings) {
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::nanoseconds(settings.init_timeout_ns));
  return std::make_unique<SideMessenger>(bootstrap, std::move(name), settings.bootstrap_interface,
                                         timeout);
}

}  // namespace

std::unique_ptr<Rendezvous> make_rendezvous(bootstrap::Bootstrap& bootstrap, const PeerTable& peers,
                                            abi::AbortWord& abort, const Settings& settings,
                                            const Beside& beside) {
  if (all_mapped(peers)) return make_mapped_rendezvous(peers, settings.wait_timeout_ns, beside);
  return std::make_unique<MessageRendezvous>(side_messenger(bootstrap, "calls", settings), abort,
                                             settings.wait_timeout_ns, beside);
}

void meet_without_device(bootstrap::Bootstrap& bootstrap, const Settings& settings,
                         const CollectiveCall& call) {
  if (bootstrap.size() == 1) return;
  abi::AbortWord abort{};
  const LossNotifications news(bootstrap, abort);
  MessageRendezvous(side_messenger(bootstrap, "leaving", settings), abort,
                    {settings.init_timeout_ns, "CHIME_INIT_TIMEOUT"})
      .meet(call);
}

}  // namespace chime::host
