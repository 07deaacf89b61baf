// Which call of Chime each host thread of this process is in: for whoever asks what the process is
// doing.
#pragma once

#include <atomic>
#include <vector>

namespace chime::simt {

// The calling thread is in the function `name`, which lives for ever, while this object lives.
// Calls nest: the inner one is told.
class HostCall {
 public:
  explicit HostCall(const char* name) : outer_(here_.name.load(std::memory_order_relaxed)) {
    if (!here_.is_listed) list();
    here_.name.store(name, std::memory_order_relaxed);
  }
  ~HostCall() { here_.name.store(outer_, std::memory_order_relaxed); }
  HostCall(const HostCall&) = delete;

 private:
  friend std::vector<const char*> host_calls();
  struct Here {
    std::atomic<const char*> name{nullptr};
    bool is_listed = false;
  };
  struct List;
  static void list();

  // On the way of every host operation: initial-exec makes it one load.
  static thread_local constinit Here here_ __attribute__((tls_model("initial-exec")));
  const char* const outer_;
};

// The names of the calls that host threads are in, one for each thread.
std::vector<const char*> host_calls();

}  // namespace chime::simt
