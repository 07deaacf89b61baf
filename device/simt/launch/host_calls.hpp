// Which call of Chime each host thread of this process is in: for whoever asks what the process is
// doing, and for whoever is about to take away what a call works on.
#pragma once

#include <atomic>
#include <vector>

namespace chime::simt {

// The calling thread is in the function `name`, which lives for ever, while this object lives.
// `of`: on what it works; null: on nothing, or on what the call around it does. Calls nest: the
// inner one is told.
class HostCall {
 public:
  [[gnu::always_inline]] explicit HostCall(const char* name, const void* of = nullptr)
      : outer_(here_.name.load(std::memory_order_relaxed)),
        outer_of_(here_.of.load(std::memory_order_relaxed)) {
    if (!here_.is_listed) list();
    here_.name.store(name, std::memory_order_relaxed);
    if (of == nullptr) return;
    here_.of.store(of, std::memory_order_release);  // with its name
    // The call then looks whether `of` is being taken away: host_calls_of() has the other half.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Release: who does not find the call any more may take away what it worked on. Pairs with the
  // acquire in host_calls_of().
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

  // On the way of every host operation: initial-exec makes it one load.
  static thread_local constinit Here here_ __attribute__((tls_model("initial-exec")));
  const char* const outer_;
  const void* const outer_of_;
};

// The names of the calls that host threads are in, one for each thread.
std::vector<const char*> host_calls();

// Those that work on `of`, of all threads but the caller's. A call that is not among them and looks
// what the caller has stored before finds it: each of two that meet sees the other. (Without
// membarrier in the kernel only nearly always: host_calls.cpp.)
std::vector<const char*> host_calls_of(const void* of);

}  // namespace chime::simt
