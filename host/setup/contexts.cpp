// The contexts of kernels and host operations: chime::context() and host_context(), and the context
// that the executor gives to a launch.
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/simt/launch/launcher.hpp"
#include "host/pe/device_state_registry.hpp"
#include "host/pe/pe.hpp"
#include "host/report/guard.hpp"

namespace chime {
namespace {

// One of the calling thread's PE, which is about to use the device; of nobody if it has none.
const Context& ready(const Context host::PeSlot::*context) {
  static const Context nobody = unfilled_context();
  host::PeSlot* slot = host::current_slot();
  if (slot == nullptr) return nobody;
  if (!slot->is_ready.load(std::memory_order_acquire))
    host::guarded("chime::context", [] { host::ready_runtime(); });
  return slot->*context;
}

}  // namespace

const Context& context() {
  host::device_state_registry::fill_late_units();  // before a launch, which asks for the context
  return ready(&host::PeSlot::context);
}
const Context& host_context() { return ready(&host::PeSlot::host_context); }

namespace {

bool is_raised(const Context* context) {
  return context->pe.abort && __atomic_load_n(&context->pe.abort->raised, __ATOMIC_RELAXED);
}

// Kernels that the executor runs belong to the PE of the host thread that launches them. The
// softgpu launches kernels that were compiled for a GPU, from within a call of the driver, which
// may not be called from here. So a PE without its device is nobody, as on a GPU.
const Context* context_of_launch() {
  static const Context nobody = unfilled_context();
  const host::PeSlot* const slot = host::current_slot();
  const bool has_device = slot != nullptr && slot->is_ready.load(std::memory_order_acquire);
  if (!has_device && !host::device_state_registry::empty()) return &nobody;
  return &ready(&host::PeSlot::context);
}

constexpr simt::Launchers kLaunchers = {
    .context_of_thread = &context_of_launch,
    .pe_of_thread = &host::current_pe_or_none,
    .is_aborted = &is_raised,
    .before_launch = &host::device_state_registry::fill_late_units};
[[maybe_unused]] const bool executor_knows = (simt::set_launchers(kLaunchers), true);

}  // namespace

}  // namespace chime
