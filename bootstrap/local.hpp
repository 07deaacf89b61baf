// chime-run's PEs: how chime-run gives them its hub's address, and how they join.
//
// For PEs of its own machine the hub listens on an abstract unix socket: no file to leave behind,
// gone with chime-run. For PEs of several hosts it listens over TCP, as a unique id's hub does. A
// PE finds the hub's addresses and the token in the environment. So a program that is started
// through a shell or a debugger, which may close inherited descriptors, still joins.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub/hub.hpp"

namespace chime::bootstrap {

// chime-run's side.
class LaunchedJob {
 public:
  struct Options {
    int n_pes;
    // The interface by which PEs of other hosts reach this one, "" for every one; without it all
    // PEs are on this machine.
    std::optional<std::string> interface {};
    // Both are called from the hub's thread: when a PE asks for the job's end, and with a line that
    // a human should see, such as that a stranger was refused.
    std::function<void(int pe, int code, std::string why)> aborted;
    std::function<void(const std::string& line)> log;
  };
  // Throws BootstrapError if there is no such interface.
  explicit LaunchedJob(Options options);

  // The variables that `pe` must find in its environment, as NAME=value.
  std::vector<std::string> environment_of(int pe) const;

  // `pe`'s process has ended; tells PEs that still count on it.
  void tell_ended(int pe, std::string how) {
    hub_->tell_lost(pe, std::move(how) + " (reported by chime-run)");
  }

  // As Hub::ask_activity.
  void ask_activity(std::function<void()> said) { hub_->ask_activity(std::move(said)); }

 private:
  int n_pes_;
  Token token_;
  std::string address_;  // as PEs find it in their environment
  std::unique_ptr<Hub> hub_;
};

// A PE's side.
bool is_started_by_chime_run();
std::unique_ptr<Bootstrap> join_local_job(const Settings& settings);

// How many processes chime-run has started this one with, itself included; 0 if it is not one of
// chime-run's.
int processes_of_chime_run();

}  // namespace chime::bootstrap
