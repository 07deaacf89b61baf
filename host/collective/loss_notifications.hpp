// Raises an abort word when the launcher tells that a PE is gone: for waits before there is a
// device stage, where no process watch (bootstrap/peer_watch.hpp) does.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "chime/abi/context.h"

namespace chime::host {

class LossNotifications {
 public:
  // Both outlive it. Nobody else listens to on_peer_lost() meanwhile.
  LossNotifications(bootstrap::Bootstrap& bootstrap, abi::AbortWord& abort);
  ~LossNotifications();

 private:
  void ask_again_and_again();

  bootstrap::Bootstrap& bootstrap_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool must_stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::host
