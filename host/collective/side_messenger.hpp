// Collective calls' messages over the side channel.
#pragma once

#include <chrono>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "host/collective/messenger.hpp"
#include "host/peers/side_channel.hpp"

namespace chime::host {

class SideMessenger final : public Messenger {
 public:
  // As SideChannel. `bootstrap` outlives it.
  SideMessenger(bootstrap::Bootstrap& bootstrap, std::string name, const std::string& interface,
                std::chrono::milliseconds timeout);

  int my_pe() const override { return my_pe_; }
  int n_pes() const override { return n_pes_; }
  void start(Listener& listener) override;
  void send(int pe, std::span<const std::byte> message) override;

 private:
  int my_pe_;
  int n_pes_;
  Listener* listener_ = nullptr;  // set by start(), before the channel's thread runs
  SideChannel channel_;           // last: its thread uses all of the above
};

}  // namespace chime::host
