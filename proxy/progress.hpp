// The proxy's thread: carries requests while there are any, answers peers, and sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "chime/abi/proxy_fifo.h"
#include "proxy/carrier.hpp"
#include "proxy/pause.hpp"

namespace chime::proxy {

class Progress {
 public:
  struct Settings {
    Carrier::Limits carrier;
    Pause::Limits pause;
    std::optional<int> cpu;  // the processor that it runs on; none: any
    // Where host threads that post find whether it sleeps. Null: none wakes it.
    abi::ProxySleep* sleep = nullptr;
  };
  // Called once by the thread if it cannot go on: then nothing that was posted ends any more.
  using Failed = std::function<void(const std::string& why)>;

  // Starts the thread. Its arguments outlive it. Throws std::runtime_error with a sentence.
  Progress(host::HostDriven& fabric, std::span<Fifo> fifos, const Settings& settings,
           Counts& counts, Failed failed);
  // Ends it. Requests in flight are given up: a caller that needs them has waited before.
  ~Progress();

  // Ends its sleep. From any thread.
  void wake() { pause_.wake(); }

 private:
  void run();
  void go_on();
  void rest();
  bool prepare_sleep();
  void get_up();

  host::HostDriven& fabric_;
  const std::optional<int> cpu_;
  abi::ProxySleep* const sleep_;
  const Failed failed_;
  Carrier carrier_;
  Pause pause_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::proxy
