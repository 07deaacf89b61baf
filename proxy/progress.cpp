#include "proxy/progress.hpp"

#include <pthread.h>
#include <sched.h>

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
      failed_(std::move(failed)),
      carrier_(fabric, fifos, settings.carrier, counts),
      pause_(settings.pause, counts),
      thread_(abi::start_thread([this] { run(); })) {}

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
  for (int look = 0; look < (tells ? kLooksAtFifos : 1); ++look) {
    const bool was_ended =
        pause_.sleep(may_have_more ? -1 : descriptor, may_have_more || !carrier_.is_idle());
    if (was_ended || carrier_.has_requests() || is_over_.load(std::memory_order_relaxed)) return;
  }
}

}  // namespace chime::proxy
