// Watches the processes of this PE's node-local peers, and reports when one ends without having
// said goodbye.
//
// Each PE has an endpoint info (process id, start time, process-id space). One thread per PE polls
// a pidfd per node-local peer: no polling interval, no signal, and a reused process id cannot be
// mistaken for the PE. Endpoint infos come from the meeting of the node's PEs, or from the
// bootstrap that found the node. Others are published and looked up, which costs a hub a question
// per pair of PEs. PEs on other nodes, in other process-id spaces (containers), and in this very
// process cannot be watched. The launcher may report the loss of those, and of PEs that die before
// their endpoint info is published (Bootstrap::on_peer_lost, which this object uses and nobody else
// may then).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/process_endpoint_info.hpp"

namespace chime::bootstrap {

// A node-local peer whose endpoint info is here already.
struct KnownLocalPeer {
  int pe;
  ProcessEndpointInfo endpoint_info;
};

class PeerWatch {
 public:
  // Starts watching. `lost(pe, how)` is called at most once per PE, from a thread of the watch or
  // of the bootstrap, one call at a time. `how` reads "process 123 on host x has ended (process
  // watch)". It must neither call the bootstrap nor destroy this object. Either all PEs of a node
  // know all their local peers' endpoint infos, or none knows any.
  PeerWatch(Bootstrap& bootstrap, std::vector<KnownLocalPeer> known,
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
