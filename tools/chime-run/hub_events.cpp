#include "hub_events.hpp"

#include <sys/eventfd.h>

#include <utility>

namespace chime::run {

HubEvents::HubEvents() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void HubEvents::note_seen() {
  eventfd_t count;
  eventfd_read(wake_.get(), &count);
}

void HubEvents::wake() const { eventfd_write(wake_.get(), 1); }

void HubEvents::add(Abort abort) {
  const std::lock_guard lock(mutex_);
  aborts_.push_back(std::move(abort));
  wake();
}

std::vector<Abort> HubEvents::take_aborts() {
  const std::lock_guard lock(mutex_);
  return std::exchange(aborts_, {});
}

void HubEvents::ask_activity(bootstrap::LaunchedJob& hub) {
  {
    const std::lock_guard lock(mutex_);
    all_have_said_ = false;
  }
  hub.ask_activity([this] {
    const std::lock_guard lock(mutex_);
    all_have_said_ = true;
    wake();
  });
}

bool HubEvents::has_all_said() const {
  const std::lock_guard lock(mutex_);
  return all_have_said_;
}

}  // namespace chime::run
