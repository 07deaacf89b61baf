#include "guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "options.hpp"
#include "processes.hpp"

namespace chime::run {
namespace {

int pe_0_input = STDIN_FILENO;

class Guardian {
 public:
  Guardian(pid_t launcher, int signals, int terminal_pipe)
      : launcher_(launcher), signals_(signals), terminal_pipe_(terminal_pipe) {}

  int wait_for_end() {
    while (!has_ended_) {
      // One of the two: more is read from the terminal when PE 0 has taken what was read before.
      const bool reads = terminal_pipe_ >= 0 && typed_.empty();
      const bool writes = terminal_pipe_ >= 0 && !typed_.empty();
      pollfd polled[] = {{signals_, POLLIN, 0},
                         {reads ? STDIN_FILENO : -1, POLLIN, 0},
                         {writes ? terminal_pipe_ : -1, POLLOUT, 0}};
      poll(polled, 3, -1);
      if (polled[0].revents) take_signal();
      if (polled[1].revents) read_terminal();
      if (polled[2].revents) pass_on();
    }
    kill_all_descendants();
    return exit_code_of(status_);
  }

 private:
  void take_signal() {
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo != SIGCHLD)
      kill(launcher_, static_cast<int>(info.ssi_signo));
    else if (waitpid(launcher_, &status_, WNOHANG) == launcher_)
      has_ended_ = true;
    if (has_ended_ && WIFSIGNALED(status_))
      std::fprintf(stderr, "chime-run: its launcher process %s; the job has been ended\n",
                   describe_end(status_).c_str());
  }

  void read_terminal() {
    char buffer[4096];
    const auto got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return close_pipe();  // end of input
    typed_.assign(buffer, static_cast<std::size_t>(got));
    pass_on();
  }

  // Never blocks: signals must be seen also when PE 0 does not read.
  void pass_on() {
    const auto written = write(terminal_pipe_, typed_.data(), typed_.size());
    if (written >= 0) typed_.erase(0, static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) close_pipe();  // PE 0 reads no more
  }

  void close_pipe() {
    close(terminal_pipe_);
    terminal_pipe_ = -1;
    typed_.clear();
  }

  pid_t launcher_;
  int signals_;
  int terminal_pipe_;
  std::string typed_;  // at the terminal, and not yet taken by PE 0
  bool has_ended_ = false;
  int status_ = 0;
};

sigset_t signals_to_take() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&set, signal);
  return set;
}

[[noreturn]] void become_launcher(pid_t guardian, const sigset_t& mask,
                                  const std::function<int()>& launch) {
  setpgid(0, 0);
  sigset_t with_death = mask;
  sigaddset(&with_death, guardian_died_signal());
  sigprocmask(SIG_BLOCK, &with_death, nullptr);
  if (!die_with_parent(guardian, guardian_died_signal())) _exit(kExitSignalBase + SIGKILL);
  _exit(launch());
}

}  // namespace

int guardian_died_signal() { return SIGRTMIN; }
int input_of_pe_0() { return pe_0_input; }

int run_guarded(const std::function<int()>& launch) {
  adopt_orphans();
  const sigset_t mask = signals_to_take();
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  signal(SIGPIPE, SIG_IGN);
  int terminal[2] = {-1, -1};
  if (isatty(STDIN_FILENO) && pipe2(terminal, O_CLOEXEC) == 0) {
    pe_0_input = terminal[0];
    fcntl(terminal[1], F_SETFL, O_NONBLOCK);  // this end alone: programs expect to block
  }

  const pid_t guardian = getpid();
  const pid_t launcher = fork();
  if (launcher < 0) {
    std::fprintf(stderr, "chime-run: fork: %s\n", std::strerror(errno));
    return kExitCannotRun;
  }
  if (launcher == 0) {
    if (terminal[1] >= 0) close(terminal[1]);
    become_launcher(guardian, mask, launch);
  }
  if (terminal[0] >= 0) close(terminal[0]);
  return Guardian(launcher, signalfd(-1, &mask, SFD_CLOEXEC), terminal[1]).wait_for_end();
}

}  // namespace chime::run
