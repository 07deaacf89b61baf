// What exec::launch returns: a status that tells whether somebody has looked at it. A launch that
// failed without a word would leave the program computing on what its kernel never wrote.
#ifndef CHIME_ABI_LAUNCH_STATUS_H_
#define CHIME_ABI_LAUNCH_STATUS_H_

#include "chime/cxx20.h"
#include "chime/error.h"

namespace chime::exec {

namespace detail {

// The calling thread's launch has failed for the reason `why` says, and its status was thrown away.
CHIME_EXPORT void launch_failed_unseen(const char* why);
// The calling thread asks for its last error: it knows of its failed launches.
CHIME_EXPORT void launch_errors_are_asked_for();
// Prints the failures of all threads that nobody has looked at, each once. Where the host waits for
// kernels, meets other PEs, or leaves. Costs one load when there are none.
CHIME_EXPORT void tell_unseen_launch_errors();

}  // namespace detail

// Used as a chimex_status, it has been looked at.
class LaunchStatus {
 public:
  // `why` are the thread's words for a `status` that is not CHIMEX_OK; valid while this object
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
