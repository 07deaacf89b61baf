#include "processes.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "bootstrap/process_stat.hpp"
#include "options.hpp"

namespace chime::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kKillTimeout = 5s;
constexpr auto kKillPause = 1ms;

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (!proc) return found;
  while (const dirent* entry = readdir(proc)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (const auto stat = bootstrap::stat_of_process(pid); stat && stat->parent == getpid())
      found.push_back(pid);
  }
  closedir(proc);
  return found;
}

// Returns false when this process has no child at all.
bool reap_ended_children() {
  pid_t pid;
  do pid = waitpid(-1, nullptr, WNOHANG);
  while (pid > 0 || (pid < 0 && errno == EINTR));
  return pid == 0;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

bool die_with_parent(pid_t parent, int signal) {
  prctl(PR_SET_PDEATHSIG, signal);
  return getppid() ==
         parent;  // asked after the line above: a parent that ends from here on sends the signal
}

void kill_all_descendants() {
  const auto end = std::chrono::steady_clock::now() + kKillTimeout;
  while (reap_ended_children() && std::chrono::steady_clock::now() < end) {
    // Children of those killed here become ours, and are found in the next round.
    for (pid_t pid : children()) kill(pid, SIGKILL);
    std::this_thread::sleep_for(kKillPause);
  }
}

// By proc(5): masks of the main thread, in hexadecimal, signal 1 lowest. A process that forks
// blocks all signals for a moment, SIGSEGV among them: it does not wait for one.
bool listens_to(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::uint64_t caught = 0, blocked = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) caught = std::strtoull(line.c_str() + 7, nullptr, 16);
    if (line.starts_with("SigBlk:")) blocked = std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  const auto has = [](std::uint64_t mask, int number) { return (mask >> (number - 1) & 1) != 0; };
  return has(caught, signal) || (has(blocked, signal) && !has(blocked, SIGSEGV));
}

std::string name_of_signal(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string describe_end(int status) {
  if (WIFEXITED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")" +
         (WCOREDUMP(status) ? ", core dumped" : "");
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalBase + WTERMSIG(status);
}

}  // namespace chime::run
