#include "jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

extern char** environ;

namespace chime::predict {
namespace {

namespace fs = std::filesystem;
constexpr const char* kTimeLimit = "120";

// chime-run beside this program: in an install prefix, or in the build tree.
fs::path find_chime_run(const fs::path& self) {
  for (const fs::path& candidate :
       {self.parent_path() / "chime-run", self.parent_path() / "../chime-run/chime-run"})
    if (fs::is_regular_file(candidate)) return candidate;
  throw std::runtime_error("there is no chime-run beside " + self.string() +
                           ": it starts the PEs that measure");
}

// This process's environment with `changes` ("NAME=value"), of which each replaces its variable.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto is_same = [&](const std::string& change) {
      return text.substr(0, change.find('=') + 1) == change.substr(0, change.find('=') + 1);
    };
    if (std::none_of(changes.begin(), changes.end(), is_same)) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

struct Outcome {
  int code;
  std::string output;
};

// Runs the program with its standard output read here; its standard error is this process's.
Outcome run(std::vector<std::string> command, std::vector<std::string> environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, command[0].c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Outcome outcome{error == 0 ? 0 : 127, error == 0 ? read_to_end(ends[0]) : ""};
  ::close(ends[0]);
  if (error != 0) throw std::runtime_error(command[0] + ": " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::vector<std::string> variables_for(const std::string& path) {
  if (path == "p2p") return {"CHIME_P2P=auto"};
  if (path == "proxy") return {"CHIME_P2P=off", "CHIME_NIC=none"};
  const char* const nic = std::getenv("CHIME_NIC");
  return {"CHIME_P2P=off", "CHIME_FABRIC=off", fmt::format("CHIME_NIC={}", nic ? nic : "auto")};
}

// The kernels that measure are the CPU device's: it is taken also where there is a GPU, unless the
// user has chosen another, which the PEs then refuse.
std::vector<std::string> changes_for(const std::string& path) {
  std::vector<std::string> changes = variables_for(path);
  if (!std::getenv("CHIME_DEVICE")) changes.emplace_back("CHIME_DEVICE=cpu");
  return changes;
}

}  // namespace

Samples measure_path(const std::string& path, const std::vector<std::size_t>& sizes, int repeats) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const Outcome outcome =
      run({find_chime_run(self).string(), "-n", "2", "--timeout", kTimeLimit, "--no-prefix",
           self.string(), "--measure", fmt::format("{}", fmt::join(sizes, ",")), "--repeats",
           std::to_string(repeats)},
          environment_with(changes_for(path)));
  if (outcome.code != 0)
    throw std::runtime_error(
        fmt::format("the job that measures path {} ended with code {}", path, outcome.code));
  Samples samples = read_samples(outcome.output);
  if (samples.path != path)
    throw std::runtime_error(
        fmt::format("two PEs of this machine have no path {}: puts take {}", path, samples.path));
  return samples;
}

}  // namespace chime::predict
