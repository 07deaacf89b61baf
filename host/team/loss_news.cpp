#include "host/team/loss_news.hpp"

#include <fmt/format.h>

#include <chrono>

#include "chime/abi/start_thread.h"
#include "host/errors/abort.hpp"

namespace chime::host {
namespace {

// Not every launcher tells by itself (Open MPI 4.1 does not): all are asked.
constexpr std::chrono::milliseconds kAskEvery{100};

}  // namespace

LossNews::LossNews(const bootstrap::Bootstrap& bootstrap, abi::AbortWord& abort)
    : bootstrap_(bootstrap), abort_(abort), thread_(abi::start_thread([this] { listen(); })) {}

LossNews::~LossNews() {
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
    ends_.notify_one();
  }
  thread_.join();
}

void LossNews::listen() {
  std::unique_lock lock(mutex_);
  while (!must_stop_ && !has_heard()) ends_.wait_for(lock, kAskEvery);
}

bool LossNews::has_heard() const {
  for (int pe = 0; pe < bootstrap_.size(); ++pe) {
    const auto why = bootstrap_.why_lost(pe);
    if (why.empty()) continue;
    raise_abort(abort_, {CHIMEX_ERR_PEER_DEAD, pe, Path::kNone,
                         fmt::format("PE {} is gone: {}", pe, why), 1});
    return true;
  }
  return false;
}

}  // namespace chime::host
