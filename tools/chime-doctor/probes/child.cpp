#include "tools/chime-doctor/probes/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

namespace chime::doctor {
namespace {

using nlohmann::json;

int milliseconds_until(Child::Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void write_all(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(to, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

// Never returns. It ends with the doctor, and leaves no core behind.
[[noreturn]] void answer(int to, const std::function<json()>& ask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  write_all(to, ask().dump(-1, ' ', false, json::error_handler_t::replace));
  std::_Exit(0);
}

// All that comes until the other end closes; absent at the deadline.
std::optional<std::string> text_from(int pipe, Child::Deadline deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (pollfd ready{pipe, POLLIN, 0};;) {
    const int found = ::poll(&ready, 1, milliseconds_until(deadline));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return std::nullopt;
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Child::Child(std::string name, const std::function<json()>& ask) : name_(std::move(name)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    process_ = ::fork();
    if (process_ == 0) answer(ends[1], ask);
    pipe_ = ends[0];
    ::close(ends[1]);
  }
  if (process_ < 0)
    why_not_started_ = fmt::format("none could be started: {}", std::strerror(errno));
}

Child::~Child() {
  if (pipe_ >= 0) ::close(pipe_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, WNOHANG);
}

std::string Child::how_it_ended(Deadline deadline) {
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (milliseconds_until(deadline) == 0) return "it gave none, and has not ended";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process_ = -1;
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

void Child::answer_by(Deadline deadline, json& recorded) {
  if (process_ < 0) {
    recorded["ended"][name_] = why_not_started_;
    return;
  }
  const std::optional<std::string> text = text_from(pipe_, deadline);
  if (!text) {
    recorded["late"].push_back(name_);
  } else if (json::accept(*text)) {
    recorded.update(json::parse(*text));
  } else {
    recorded["ended"][name_] = how_it_ended(deadline);
  }
}

}  // namespace chime::doctor
