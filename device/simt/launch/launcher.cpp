#include "chime/device/simt/launch/launcher.hpp"

#include <atomic>

#include "chime/abi/context.h"

namespace chime::simt {

namespace {

constinit std::atomic<const Launchers*> known{nullptr};

// Pairs with the release in set_launchers.
const Launchers* launchers() { return known.load(std::memory_order_acquire); }

}  // namespace

void set_launchers(const Launchers& launchers) {
  known.store(&launchers, std::memory_order_release);
}

const Context* context_of_thread() {
  static const Context nobody = unfilled_context();
  return launchers() ? launchers()->context_of_thread() : &nobody;
}

int pe_of_thread() { return launchers() ? launchers()->pe_of_thread() : -1; }

bool is_aborted(const Context* context) {
  return context && launchers() && launchers()->is_aborted(context);
}

void before_foreign_launch() {
  if (launchers()) launchers()->before_launch();
}

}  // namespace chime::simt
