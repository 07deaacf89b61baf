#include "host/collective/loss_notifications.hpp"

#include <fmt/format.h>

#include <chrono>

#include "chime/abi/start_thread.h"
#include "host/errors/abort.hpp"

namespace chime::host {
namespace {

// Not every launcher tells by itself: Open MPI 4.1 does not.
constexpr std::chrono::milliseconds kAskEvery{100};

}  // namespace

LossNotifications::LossNotifications(bootstrap::Bootstrap& bootstrap, abi::AbortWord& abort)
    : bootstrap_(bootstrap) {
  bootstrap.on_peer_lost([&abort](int pe, const std::string& why) {
    raise_abort(abort, {CHIMEX_ERR_PEER_DEAD, pe, Path::kNone,
                        fmt::format("PE {} is gone: {}", pe, why), 1});
  });
  thread_ = abi::start_thread([this] { ask_again_and_again(); });
}

LossNotifications::~LossNotifications() {
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
    ends_.notify_one();
  }
  thread_.join();
  bootstrap_.on_peer_lost(nullptr);
}

void LossNotifications::ask_again_and_again() {
  std::unique_lock lock(mutex_);
  while (!must_stop_) {
    lock.unlock();
    bootstrap_.ask_who_is_lost();
    lock.lock();
    if (!must_stop_) ends_.wait_for(lock, kAskEvery);
  }
}

}  // namespace chime::host
