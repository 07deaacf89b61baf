// A host thread that only sleeps: the floor of the gaps. Where it wakes late, the machine stood or
// was busy with other work, and senders are late for that reason, too.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "board.hpp"

namespace chime::perf {

class Onlooker {
 public:
  Onlooker() : thread_([this] { look(); }) {}
  ~Onlooker() {
    if (thread_.joinable()) end();
  }
  Onlooker(const Onlooker&) = delete;

  // What it saw; it looks no longer.
  Progress end() {
    is_over_ = true;
    thread_.join();
    return seen_;
  }

 private:
  void look() {
    const std::uint64_t start_ns = host_now_ns();
    Stopwatch watch(seen_, start_ns);
    while (!is_over_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      watch.note(1, host_now_ns());
    }
  }

  Progress seen_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace chime::perf
