// Watches the processes of this host's PEs, and says whether there is a reason to ask the launcher
// which PEs are dead.
//
// A launcher knows whether a PE that has ended had left the job, and a process watch does not. But
// while all processes live that this PE has to judge, nobody is gone, and the launcher is left
// alone. All calls from any thread.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "bootstrap/process_endpoint_info.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::bootstrap {

class HostProcesses {
 public:
  // Until its process is known, only the launcher can say whether `pe` is gone.
  void leave_to_launcher(int pe);
  // `endpoint_info` is that of `pe`. One that cannot be watched is left to the launcher.
  void know(int pe, const ProcessEndpointInfo& endpoint_info);
  // The launcher says that `pe` has ended, well or not: nobody asks about it again.
  void note_explained(int pe);

  // How `pe` has ended, as far as this process sees; empty if it has not. It may have left the job
  // before.
  std::string how_ended(int pe);
  // Processes have ended, and the launcher has not said why. One call of the kernel's.
  bool has_unexplained_end();
  bool is_left_to_launcher(int pe) const;
  bool leaves_any_to_launcher() const;

 private:
  bool watch(int pe, const ProcessEndpointInfo& endpoint_info);
  void take_ends();
  void note_end(int pe);

  const ProcessEndpointInfo me_ = endpoint_info_of_this_process();

  mutable std::mutex mutex_;  // guards what follows
  std::map<int, net::Descriptor> pidfds_;
  std::map<int, std::string> names_;  // of the processes that are or were watched
  std::set<int> ended_;               // of these
  std::set<int> unexplained_;         // of these
  std::set<int> left_;                // to the launcher
};

}  // namespace chime::bootstrap
