// Watches the processes of this PE's node-mates, and tells when one ends without having said
// goodbye.
//
// Each PE has a card (process id, start time, process-id space) and one thread per PE polls a pidfd
// per node-mate: no polling interval, no signal, and no process id reused in between can be
// mistaken for the PE. Cards that crossed when the node's PEs met are given; others are published
// and looked up, which costs the launcher a question per pair of PEs. PEs on other nodes, in other
// process-id spaces (containers), and in this very process cannot be watched; of those, and of PEs
// that die before they have published their card, the launcher may tell (Bootstrap::on_peer_lost,
// which this object uses and nobody else may then).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "net/secret.hpp"

namespace chime::bootstrap {

// What tells a PE's process from all others of this machine, and of others. Plain bytes: it
// travels.
struct ProcessCard {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;
  char space[128] = "";  // kernel and process-id space (place.hpp)
  char host[65] = "";
  net::Token nonce =
      {};  // drawn by the process: where process-id spaces differ, the rest may be equal
};

ProcessCard card_of_this_process();

// Whether the caller is a thread of the card's process.
bool is_of_this_process(const ProcessCard& card);

// A node-mate whose card is here already.
struct KnownMate {
  int pe;
  ProcessCard card;
};

class PeerWatch {
 public:
  // Starts watching. `lost(pe, how)` is called at most once per PE, from a thread of the watch or
  // of the bootstrap, one call at a time. `how` reads "process 123 on host x has ended (process
  // watch)". It must neither call the bootstrap nor destroy this object. Either all PEs of a node
  // know all their mates' cards, or none knows any.
  PeerWatch(Bootstrap& bootstrap, std::vector<KnownMate> known,
            std::function<void(int pe, std::string how)> lost);

  // Somebody else knows that `pe` is gone. From any thread.
  void tell(int pe, const std::string& how);

  // This PE is about to leave: peers must not take its end for a death. Call before the job's last
  // meeting.
  void say_goodbye();

  // Stops watching.
  ~PeerWatch();

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace chime::bootstrap
