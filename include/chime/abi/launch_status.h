// The result of exec::launch: a status that knows whether the program has checked it. If a failed
// launch went unnoticed, the program would compute with data that its kernel never wrote.
#ifndef CHIME_ABI_LAUNCH_STATUS_H_
#define CHIME_ABI_LAUNCH_STATUS_H_

#include "chime/cxx20.h"
#include "chime/error.h"

namespace chime::exec {

namespace detail {

// The calling thread's launch has failed for the reason `why`, and its status was discarded.
CHIME_EXPORT void launch_failed_unseen(const char* why);
// The calling thread asks for its last error: so it knows of its failed launches.
CHIME_EXPORT void launch_errors_are_asked_for();
// Prints the failures of all threads that the program has not checked, each once. Called where the
// host waits for kernels, meets other PEs, or leaves. Costs one load if there are none.
CHIME_EXPORT void tell_unseen_launch_errors();

}  // namespace detail

// A conversion to chimex_status counts as a check.
class LaunchStatus {
 public:
  // `why`: the thread's message for a `status` that is not CHIMEX_OK; valid while this object
  // lives.
  LaunchStatus(chimex_status status, const char* why)
      : status_(status), why_(why), is_seen_(status == CHIMEX_OK) {}
  LaunchStatus(LaunchStatus&& other) noexcept
      : status_(other.status_), why_(other.why_), is_seen_(other.is_seen_) {
    other.is_seen_ = true;
  }
  ~LaunchStatus() {
    if (!is_seen_) detail::launch_failed_unseen(why_);
  }
  operator chimex_status() const {
    is_seen_ = true;
    return status_;
  }

 private:
  chimex_status status_;
  const char* why_;
  mutable bool is_seen_;
};

}  // namespace chime::exec

#endif  // CHIME_ABI_LAUNCH_STATUS_H_
