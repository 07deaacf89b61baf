// chime-run's PEs: how chime-run tells them where its hub is, and how they join.
//
// The hub listens on an abstract unix socket: no file to leave behind, gone with chime-run. A PE
// finds its name and the token in the environment, so that a program started through a shell or a
// debugger, which may close inherited descriptors, still joins.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub.hpp"

namespace chime::bootstrap {

// chime-run's side.
class LocalJob {
 public:
  // Both are called from the hub's thread: `aborted` when a PE asks for the job's end, `log` with a
  // line that a human should see, such as that a stranger was refused.
  LocalJob(int n_pes, std::function<void(int pe, int code, std::string why)> aborted,
           std::function<void(const std::string& line)> log);

  // What `pe` must find in its environment, as NAME=value.
  std::vector<std::string> environment_of(int pe) const;

  // `pe`'s process has ended; tells PEs that still count on it.
  void tell_ended(int pe, std::string how) {
    hub_->tell_lost(pe, std::move(how) + " (told by chime-run)");
  }

  // As Hub::ask_activity.
  void ask_activity(std::function<void()> said) { hub_->ask_activity(std::move(said)); }

 private:
  int n_pes_;
  Token token_;
  std::string address_;
  std::unique_ptr<Hub> hub_;
};

// A PE's side.
bool is_started_by_chime_run();
std::unique_ptr<Bootstrap> join_local_job(const Settings& settings);

}  // namespace chime::bootstrap
