// A PE, or an agent, as a child process: its start, its group, its end.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "net/socket/descriptor.hpp"

namespace chime::run {

struct Start {
  const std::vector<std::string>& command;
  std::vector<std::string> environment;  // NAME=value, over this process's own without PMIX_*
  int input;                             // what it reads
  bool has_own_output;                   // its stdout and stderr come back through pipes
  const cpu_set_t* cpus;                 // bound to them; null: not bound
};

class ChildProcess {
 public:
  // Forks. Whether the program could be executed is known later: exec_error().
  // Throws std::system_error if the system has no room for another process.
  explicit ChildProcess(const Start& start);

  // Waits for exec; its errno if it failed, else 0.
  int exec_error();

  pid_t pid() const { return pid_; }
  bool is_running() const { return !status_; }
  std::optional<int> status() const { return status_; }

  // To the process and those that it started in its group.
  void send(int signal) const;

  // Reaps all children of this process that have ended, also those of other owners, by one call of
  // the system where none has. The rest of a ChildProcess's group is killed before.
  static void reap_ended();
  // The ChildProcesses among them that note_end() has not been called for.
  static std::vector<pid_t> ended();
  // True once, if it has been reaped.
  bool note_end();

  const net::Descriptor& output() const { return output_; }
  const net::Descriptor& errors() const { return errors_; }

 private:
  pid_t pid_ = -1;
  net::Descriptor exec_report_;
  net::Descriptor output_, errors_;
  std::optional<int> status_;
};

}  // namespace chime::run
