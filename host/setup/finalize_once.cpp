#include "host/setup/finalize_once.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "chime/device/simt/launch/host_calls.hpp"
#include "host/errors/error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

void give_up(PeSlot& slot) { slot.leaver.store(0, std::memory_order_relaxed); }

void claim(PeSlot& slot) {
  pid_t leaver = 0;
  if (slot.leaver.compare_exchange_strong(leaver, gettid(), std::memory_order_relaxed)) return;
  const std::string finalize = spoken("chime_finalize");
  throw Error(
      "setup", CHIMEX_ERR_INVALID,
      leaver == gettid()
          ? fmt::format("this thread is in {} of this PE already", finalize)
          : fmt::format("another thread is in {} of this PE; one of them calls it", finalize));
}

}  // namespace

FinalizeOnce::FinalizeOnce(PeSlot& slot) : slot_(slot) {
  claim(slot);
  const std::vector<const char*> others = simt::host_calls_of(&slot);
  if (others.empty()) return;
  give_up(slot);
  throw Error("setup", CHIMEX_ERR_INVALID,
              fmt::format("another thread of this PE is in {}; finalize when all threads have made "
                          "their last call: join them before",
                          spoken(others.front())));
}

// A PE that has left stays claimed: a call that found it just before still sees it so.
FinalizeOnce::~FinalizeOnce() {
  if (slot_.is_alive.load(std::memory_order_relaxed)) give_up(slot_);
}

}  // namespace chime::host
