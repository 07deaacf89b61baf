// The call of Chime that each host thread of this process is in: for reports of what the process is
// doing, and for a thread that is about to remove the object of a call.
#pragma once

#include <atomic>
#include <vector>

#include "chime/device/simt/trace/recorder.hpp"

namespace chime::simt {

// While an object of this class lives, the calling thread is in the function `name`, which lives
// for ever. `of`: the object that the call works on; null: none, or that of the enclosing call.
// Calls nest: reports name the inner one. The timeline shows them (CHIME_TRACE).
class HostCall {
 public:
  [[gnu::always_inline]] explicit HostCall(const char* name, const void* of = nullptr)
      : traced_(name),
        outer_(here_.name.load(std::memory_order_relaxed)),
        outer_of_(here_.of.load(std::memory_order_relaxed)) {
    if (!here_.is_listed) list();
    here_.name.store(name, std::memory_order_relaxed);
    if (of == nullptr) return;
    here_.of.store(of, std::memory_order_release);  // with its name
    // The call then looks whether `of` is being taken away: host_calls_of() has the other half.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Release: a thread that no longer finds the call may remove its object. Pairs with the acquire
  // in host_calls_of().
  ~HostCall() {
    here_.of.store(outer_of_, std::memory_order_release);
    here_.name.store(outer_, std::memory_order_relaxed);
  }
  HostCall(const HostCall&) = delete;

 private:
  friend std::vector<const char*> host_calls();
  friend std::vector<const char*> host_calls_of(const void* of);
  struct Here {
    std::atomic<const char*> name{nullptr};
    std::atomic<const void*> of{nullptr};
    bool is_listed = false;
  };
  struct List;
  static void list();
  static const char* name_on(const void* of, const Here& thread);

  // Every host operation reads it: initial-exec makes that one load.
  static thread_local constinit Here here_ __attribute__((tls_model("initial-exec")));
  const TracedCall traced_;
  const char* const outer_;
  const void* const outer_of_;
};

// The names of the calls that host threads are in, one for each thread.
std::vector<const char*> host_calls();

// Calls on `of`, of all threads but the caller's. A call that is missing here, and then checks what
// the caller has stored before, finds it: when two meet, each sees the other. (Without membarrier
// in the kernel this holds only nearly always: host_calls.cpp.)
std::vector<const char*> host_calls_of(const void* of);

}  // namespace chime::simt
