// Opens the paths of one transport to single peers, while kernels run. host/peers/README.md has the
// messages and states, tests/models/connections/opening.py all that may happen.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "host/peers/peer_table.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// All functions from any thread.
class Opener {
 public:
  // A message to another PE's opener. Messages of one PE to another arrive in order. Throws
  // std::exception where `pe` is gone.
  using Send = std::function<void(int pe, const EndpointInfoBytes& message)>;

  // Its arguments outlive it. REQUIRES: the transport opens on demand.
  Opener(Transport& transport, PeerTable& peers, Send send);

  // Opens the path to `pe`, unless that was done or is being done. A thread that waits for it gets
  // an answer sooner or later.
  void want(int pe);
  // Throws net::Error for what no opener sends.
  void on_message(int from, std::span<const std::byte> message);
  // No message comes from `pe` any more.
  void on_lost(int pe, const std::string& why);

 private:
  // A message with this PE's own endpoint info and a fresh offer to `pe`. Empty, and `pe` is
  // refused, where there is no place for it, or none can be made.
  EndpointInfoBytes make_offer(int pe);
  void on_offer(int from, std::span<const std::byte> endpoint_info,
                std::span<const std::byte> offer);
  void on_receipt(int from, std::span<const std::byte> receipt);
  void on_refusal(int from, const std::string& why);
  // Whether it is accepted; else it is refused, and gets a refusal.
  bool accept(int from, std::span<const std::byte> endpoint_info, std::span<const std::byte> offer);
  void refuse(int pe, const std::string& why);
  void refuse_and_tell(int pe, const std::string& why);
  void send(int pe, const EndpointInfoBytes& message);

  Transport& transport_;
  PeerTable& peers_;
  const Path path_;
  const Send send_;
  std::mutex one_step_;
  EndpointInfoBytes receipt_;  // of accept()
  std::set<int> settled_;      // with a path that is usable or refused, dead or not
};

}  // namespace chime::host
