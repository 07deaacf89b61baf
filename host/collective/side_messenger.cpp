#include "host/collective/side_messenger.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/errors/error.hpp"

namespace chime::host {

SideMessenger::SideMessenger(bootstrap::Bootstrap& bootstrap, std::string name,
                             const std::string& interface, std::chrono::milliseconds timeout)
    : my_pe_(bootstrap.rank()),
      n_pes_(bootstrap.size()),
      channel_(bootstrap, std::move(name), interface, timeout,
               [this](int pe, const std::string& why) { listener_->on_lost(pe, why); }) {}

void SideMessenger::start(Listener& listener) {
  listener_ = &listener;
  channel_.handle(SideTag::kCollective, [this](int from, std::span<const std::byte> message) {
    listener_->on_message(from, message);
  });
  channel_.start();
}

void SideMessenger::send(int pe, std::span<const std::byte> message) {
  if (channel_.send(pe, SideTag::kCollective, message)) return;
  throw Error("side channel", CHIMEX_ERR_PEER_DEAD,
              fmt::format("PE {} does not take its messages; they pile up", pe));
}

}  // namespace chime::host
