#include "child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

#include "environment.hpp"
#include "options.hpp"
#include "processes.hpp"

namespace chime::run {
namespace {

struct Pipe {
  net::Descriptor read, write;
};

Pipe make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC)) throw std::system_error(errno, std::generic_category(), "pipe");
  return {net::Descriptor(fds[0]), net::Descriptor(fds[1])};
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// After fork in a process with threads: nothing here may allocate or lock.
struct Child {
  pid_t launcher;
  char* const* command;
  char* const* environment;
  int input, output, errors, exec_report;
  const cpu_set_t* cpus;

  [[noreturn]] void become_it() const {
    setpgid(0, 0);
    if (!die_with_parent(launcher, SIGKILL)) _exit(kExitSignalBase + SIGKILL);
    if (cpus != nullptr) sched_setaffinity(0, sizeof *cpus, cpus);
    if (input != STDIN_FILENO) dup2(input, STDIN_FILENO);
    if (output >= 0) dup2(output, STDOUT_FILENO);
    if (errors >= 0) dup2(errors, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvpe(command[0], command, environment);
    const int error = errno;
    [[maybe_unused]] auto written = write(exec_report, &error, sizeof error);
    _exit(kExitNotFound);
  }
};

// Children of this process. For the main thread.
std::set<pid_t> running;
std::map<pid_t, int> reaped;  // their status, until it is noted

}  // namespace

ChildProcess::ChildProcess(const Start& start) {
  auto report = make_pipe();
  Pipe output, errors;
  if (start.has_own_output) output = make_pipe(), errors = make_pipe();
  const auto environment = environment_with(start.environment);
  const auto arguments = pointers_to(start.command), variables = pointers_to(environment);
  const Child child{getpid(),           arguments.data(),   variables.data(),   start.input,
                    output.write.get(), errors.write.get(), report.write.get(), start.cpus};
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) child.become_it();
  running.insert(pid_);
  setpgid(pid_,
          pid_);  // also here: a signal to the group must find it, whichever process runs first
  exec_report_ = std::move(report.read);
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
}

int ChildProcess::exec_error() {
  int error = 0;
  ssize_t got;
  do
    got = read(exec_report_.get(), &error, sizeof error);  // end of file: exec closed the other end
  while (got < 0 && errno == EINTR);
  exec_report_.reset();
  return got == sizeof error ? error : 0;
}

void ChildProcess::send(int signal) const {
  if (is_running()) kill(-pid_, signal);
}

void ChildProcess::reap_ended() {
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    const bool is_ours = running.erase(pid) > 0;
    if (is_ours) kill(-pid, SIGKILL);  // until it is reaped its number is nobody else's
    int status = 0;
    waitpid(pid, &status, 0);
    if (is_ours) reaped[pid] = status;
  }
}

std::vector<pid_t> ChildProcess::ended() {
  std::vector<pid_t> pids;
  for (const auto& [pid, status] : reaped) pids.push_back(pid);
  return pids;
}

bool ChildProcess::note_end() {
  const auto end = reaped.extract(pid_);
  if (end.empty()) return false;
  status_ = end.mapped();
  return true;
}

}  // namespace chime::run
