// Notices that a host of the job is lost, with its PEs, while nobody has anything to do with it.
// README.md says how.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/peers/keepalive/links.hpp"

namespace chime::host {

class Keepalive {
 public:
  struct Options {
    std::chrono::milliseconds silence;  // of a host (CHIME_FABRIC_TIMEOUT); 0: none is lost
    std::string interface = {};         // CHIME_BOOTSTRAP_IF
    bootstrap::Deadline deadline;       // for the node's PEs to find each other
    // `pe` is on a host that is lost. Once a PE, from a thread of this object's.
    std::function<void(int pe, const std::string& why)> lost = {};
    // No host is watched any more.
    std::function<void(const std::string& why)> failed = {};
  };

  // In a job of one node it does nothing, and opens no socket. `bootstrap` outlives it. Throws
  // Error.
  Keepalive(bootstrap::Bootstrap& bootstrap, Options options);
  ~Keepalive();

 private:
  void find(int pe);

  bootstrap::Bootstrap& bootstrap_;
  const Options options_;
  std::unique_ptr<KeepaliveLinks> links_;
  std::mutex mutex_;                        // guards what follows
  std::vector<bootstrap::Question> asked_;  // last: their answers go to the links
};

}  // namespace chime::host
