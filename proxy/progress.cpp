#include "proxy/progress.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <utility>

#include "chime/abi/start_thread.h"

namespace chime::proxy {
namespace {

// A processor that does not exist, or is not this process's, was refused when the setting was read.
void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace

Progress::Progress(host::HostDriven& fabric, std::span<Fifo> fifos, const Settings& settings,
                   Counts& counts, Failed failed)
    : fabric_(fabric),
      cpu_(settings.cpu),
      sleep_(settings.sleep),
      failed_(std::move(failed)),
      carrier_(fabric, fifos, settings.carrier, counts),
      pause_(settings.pause, counts),
      thread_(abi::start_thread([this] {
        if (sleep_) sleep_->event = pause_.event();
        run();
      })) {}

Progress::~Progress() {
  is_over_ = true;
  wake();
  thread_.join();
}

void Progress::run() {
  pthread_setname_np(pthread_self(), "chime-proxy");
  if (cpu_) stay_on(*cpu_);
  pause_.begin();
  try {
    go_on();
  } catch (const std::exception& error) {
    failed_(error.what());
  }
}

void Progress::go_on() {
  while (!is_over_.load(std::memory_order_relaxed)) {
    if (carrier_.turn()) {
      pause_.reset();
    } else {
      rest();
    }
  }
}

// The fabric is asked for its descriptor only when it is to be slept at: to ask is to look several
// times (libfabric polls at each of a provider's layers before it says that one may sleep). While
// the descriptor tells nothing, only the FIFOs are looked at, which is all that an idle PE pays.
// From time to time the fabric, too, which may have something to do by the clock.
void Progress::rest() {
  constexpr int kLooksAtFifos = 50;
  if (pause_.yields()) return;
  const int descriptor = fabric_.idle_descriptor();
  const bool may_have_more = descriptor == host::HostDriven::kLookSoon,
             tells = descriptor >= 0 && carrier_.is_idle();
  for (int look = 0; look < (tells ? kLooksAtFifos : 1) && prepare_sleep(); ++look) {
    if (pause_.sleep(may_have_more ? -1 : descriptor, may_have_more || !carrier_.is_idle())) break;
  }
  get_up();
}

// Says that it goes to sleep, and looks at the FIFOs once more. The exchange is before that of a
// host thread that posts, which then finds the 1 and ends the sleep, or behind it, acquires, and
// the look finds the request: pairs with wake_proxy (device/path/proxy/wake.cuh).
bool Progress::prepare_sleep() {
  if (sleep_) std::atomic_ref(sleep_->is_asleep).exchange(1, std::memory_order_acq_rel);
  return !carrier_.has_requests() && !is_over_.load(std::memory_order_relaxed);
}

// A post that has found the 1 meanwhile ends the next sleep, which costs a look. No plain store: it
// would stand between a post's exchange and the next one here, which is to acquire it.
void Progress::get_up() {
  if (sleep_) std::atomic_ref(sleep_->is_asleep).exchange(0, std::memory_order_acq_rel);
}

}  // namespace chime::proxy
