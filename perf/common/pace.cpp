#include "pace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace chime::perf {
namespace {

// As in examples/particles/files/progress.cpp, which shares no code with benchmarks.
constexpr double kLong_s = 5;  // longer runs print their estimate
constexpr double kMostSilence_s = 40;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string duration_in_words(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

Pace::Pace(std::string program, bool tells, double silence_s)
    : program_(std::move(program)), silence_s_(silence_s) {
  start_s_ = reported_s_ = now_s();
  if (tells) thread_ = std::thread([this] { run(); });
}

Pace::~Pace() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Pace::expect(double seconds) {
  const std::lock_guard lock(mutex_);
  expected_s_ = seconds;
  start_s_ = now_s();
  if (!thread_.joinable() || seconds < kLong_s) return;
  std::fprintf(stderr, "%s: this takes about %s; with --quick a few seconds, to see that it runs\n",
               program_.c_str(), duration_in_words(seconds).c_str());
  reported_s_ = now_s();
}

void Pace::begin_row(const std::string& what, std::size_t number, std::size_t rows) {
  const std::lock_guard lock(mutex_);
  where_ = what + ", row " + std::to_string(number) + " of " + std::to_string(rows);
  reported_s_ = now_s();  // the row before it
}

void Pace::run() {
  std::unique_lock lock(mutex_);
  while (!must_end_) {
    if (now_s() >= reported_s_ + silence_s_) {
      reported_s_ = now_s();
      const std::string of =
          expected_s_ > 0 ? " of about " + duration_in_words(expected_s_) : std::string();
      std::fprintf(stderr, "%s: %s, %s so far%s\n", program_.c_str(), where_.c_str(),
                   duration_in_words(reported_s_ - start_s_).c_str(), of.c_str());
      silence_s_ = std::min(2 * silence_s_, kMostSilence_s);
    }
    ended_.wait_for(lock, std::chrono::duration<double>(reported_s_ + silence_s_ - now_s()),
                    [&] { return must_end_; });
  }
}

}  // namespace chime::perf
