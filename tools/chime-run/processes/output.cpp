#include "output.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace chime::run {
namespace {

constexpr std::chrono::seconds kFlushTimeout{2};
constexpr std::size_t kMaxLine = 1 << 16;  // a longer one is shown in pieces

bool is_writable(int fd, int wait_ms) {
  pollfd ready{fd, POLLOUT, 0};
  return poll(&ready, 1, wait_ms) > 0;
}

}  // namespace

// At most PIPE_BUF bytes at a time: so much a writable pipe takes without blocking.
void Sink::write_some() {
  while (has_waiting() && is_writable(fd_, 0)) {
    const auto written =
        write(fd_, waiting_.data(), std::min<std::size_t>(waiting_.size(), PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) {
      error_ = errno;
      waiting_.clear();
      return;
    }
    waiting_.erase(0, static_cast<std::size_t>(written));
  }
}

void Sink::flush() {
  using Clock = std::chrono::steady_clock;
  auto last_taken = Clock::now();
  while (has_waiting() && Clock::now() - last_taken < kFlushTimeout) {
    const auto before = waiting_.size();
    write_some();
    if (waiting_.size() < before) last_taken = Clock::now();
    if (has_waiting()) is_writable(fd_, 50);
  }
}

void Lines::add(std::string_view text) {
  line_ += text;
  std::size_t begin = 0;
  for (;;) {
    auto end = line_.find('\n', begin);
    if (end == std::string::npos && line_.size() - begin <= kMaxLine) break;
    end = std::min(end, begin + kMaxLine);
    show(std::string_view(line_).substr(begin, end - begin));
    begin = end + (end < line_.size() && line_[end] == '\n');
  }
  line_.erase(0, begin);
}

void Lines::show(std::string_view line) {
  if (is_left_out_ && is_left_out_(line)) return;
  sink_.add(prefix_);
  sink_.add(line);
  sink_.add("\n");
}

void Lines::finish() {
  if (!line_.empty()) show(line_);
  line_.clear();
}

Source::Source(int fd, std::vector<Sink*> sinks, Take take)
    : fd_(fd), sinks_(std::move(sinks)), take_(std::move(take)) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

bool Source::is_full() const {
  return std::any_of(sinks_.begin(), sinks_.end(), [](const Sink* s) { return s->is_full(); });
}

void Source::read_some() {
  char buffer[65536];
  while (is_waited_for()) {
    const auto got = read(fd_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return finish();
    take_({buffer, static_cast<std::size_t>(got)});
  }
}

void Source::read_rest() {
  read_some();
  while (fd_ >= 0 && is_full()) {
    for (Sink* sink : sinks_) sink->flush();
    if (is_full()) break;  // nobody reads
    read_some();
  }
  finish();
}

void Source::finish() {
  if (fd_ < 0) return;
  fd_ = -1;
  take_({});
}

}  // namespace chime::run
