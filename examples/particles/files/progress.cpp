#include "files/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace particles {
namespace {

using Clock = std::chrono::steady_clock;

// The same limit as in the benchmarks (perf/common/pace.cpp), which share no code with examples.
constexpr std::chrono::milliseconds kMostSilence{40'000};

// Guards the data that the thread that reports and the thread that works share.
std::mutex mutex;
Phase* innermost = nullptr;
Clock::time_point told = Clock::now();

}  // namespace

Phase::Phase(std::string what, std::int64_t total, std::string items)
    : what_(std::move(what)), items_(std::move(items)), total_(total), outer_(innermost) {
  const std::lock_guard lock(mutex);
  innermost = this;
}

Phase::~Phase() {
  const std::lock_guard lock(mutex);
  innermost = outer_;
}

std::string Phase::words() const {
  const std::int64_t done = done_.load(std::memory_order_relaxed);
  if (items_.empty()) return what_;
  if (total_ == 0) return fmt::format("{}: {} {}", what_, done, items_);
  return fmt::format("{}: {} of {} {} ({} %)", what_, done, total_, items_, 100 * done / total_);
}

Teller::Teller(std::chrono::milliseconds first_silence) : silence_(first_silence) {
  note_told();
  thread_ = std::thread([this] { run(); });
}

Teller::~Teller() {
  {
    const std::lock_guard lock(mutex);
    must_end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Teller::run() {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex);
  while (!must_end_) {
    if (Clock::now() >= told + silence_) {
      told = Clock::now();
      silence_ = std::min(2 * silence_, kMostSilence);
      if (innermost != nullptr) {
        fmt::print(stderr, "particles: {}, {} s so far\n", innermost->words(),
                   std::chrono::round<std::chrono::seconds>(told - start).count());
      }
    }
    ended_.wait_until(lock, told + silence_, [&] { return must_end_; });
  }
}

void note_told() {
  const std::lock_guard lock(mutex);
  told = Clock::now();
}

}  // namespace particles
