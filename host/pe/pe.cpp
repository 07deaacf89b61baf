#include "host/pe/pe.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "host/errors/error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace slots {

thread_local constinit PeSlot* bound_slot = nullptr;
constinit std::atomic<PeSlot*> only_slot{nullptr};
constinit std::atomic<int> alive{0};

}  // namespace slots

namespace {

using slots::bound_slot;
using slots::only_slot;

// The PEs of this process, past ones included. Never destroyed: threads may ask while the process
// ends.
struct Process {
  std::mutex mutex;
  std::vector<std::unique_ptr<PeSlot>> slots;
  bool has_several = false;
  std::string failed_init;  // of the thread that failed last
};

Process& process() {
  static Process* the_process = new Process;
  return *the_process;
}

thread_local std::string failed_init_of_thread;

const std::string& failed_init(const Process& all) {
  return failed_init_of_thread.empty() ? all.failed_init : failed_init_of_thread;
}

std::string why_not_initialized(const Process& all) {
  if (const std::string& why = failed_init(all); !why.empty())
    return fmt::format("{} has failed, and there is no PE: {}", spoken("chime_init"), why);
  if (all.slots.empty())
    return fmt::format("Chime is not initialised; call {} first", spoken_init());
  return fmt::format("called after {}; call {} again first", spoken("chime_finalize"),
                     spoken_init());
}

// Acquire: pairs with the release in leave_pe.
bool is_alive(const PeSlot& slot) { return slot.is_alive.load(std::memory_order_acquire); }

void find_only_slot(Process& all) {
  PeSlot* found = nullptr;
  int alive = 0;
  for (const auto& slot : all.slots)
    if (is_alive(*slot)) {
      found = slot.get();
      ++alive;
    }
  slots::alive.store(alive, std::memory_order_relaxed);
  all.has_several = alive > 1 || (alive == 1 && all.has_several);
  // Publishes the slot: pairs with the acquire in current_slot.
  only_slot.store(all.has_several ? nullptr : found, std::memory_order_release);
}

void bind(PeSlot& slot) { bound_slot = &slot; }

}  // namespace

PeSlot& enter_pe(std::unique_ptr<Runtime> runtime) {
  Process& all = process();
  std::lock_guard lock(all.mutex);
  claim_process();
  all.slots.push_back(std::make_unique<PeSlot>());
  PeSlot& slot = *all.slots.back();
  slot.pe = runtime->my_pe();
  slot.n_pes = runtime->n_pes();
  slot.on_error = runtime->settings.on_error;
  slot.on_peer_failure = runtime->settings.on_peer_failure;
  slot.runtime = std::move(runtime);
  find_only_slot(all);
  bind(slot);
  return slot;
}

void publish_context(PeSlot& slot, const Context& kernels, const Context& host) {
  slot.context = kernels;
  slot.host_context = host;
  slot.is_ready.store(true, std::memory_order_release);
}

std::unique_ptr<Runtime> leave_pe(PeSlot& slot) {
  Process& all = process();
  std::lock_guard lock(all.mutex);
  slot.is_ready.store(false, std::memory_order_relaxed);
  slot.is_alive.store(false, std::memory_order_release);
  slot.context = slot.host_context = unfilled_context();
  std::unique_ptr<Runtime> runtime = std::move(slot.runtime);
  find_only_slot(all);
  return runtime;
}

bool pe_has_left() {
  if (current_slot() || is_child_of_pes()) return false;
  Process& all = process();
  std::lock_guard lock(all.mutex);
  if (!failed_init(all).empty()) return false;
  if (bound_slot) return true;
  return !all.slots.empty() && std::none_of(all.slots.begin(), all.slots.end(),
                                            [](const auto& slot) { return is_alive(*slot); });
}

void keep_failed_init(const std::string& why) {
  Process& all = process();
  std::lock_guard lock(all.mutex);
  failed_init_of_thread = all.failed_init = why;
}

void forget_failed_init() {
  Process& all = process();
  std::lock_guard lock(all.mutex);
  failed_init_of_thread.clear();
  all.failed_init.clear();
}

void throw_if_child_of_pes() {
  if (!is_child_of_pes()) return;
  const PeSlot* const slot = slot_or_copy();
  throw Error("setup", CHIMEX_ERR_NOT_INITIALIZED,
              fmt::format("this process is a child of {} by fork; only the process that called "
                          "{} may call Chime: call it there, or start a program (exec)",
                          slot ? fmt::format("PE {}", slot->pe) : "a process with several PEs",
                          spoken_init()));
}

Runtime& current_runtime() {
  throw_if_child_of_pes();
  if (PeSlot* const slot = staying_slot()) return *slot->runtime;
  if (current_slot())
    throw Error("setup", CHIMEX_ERR_NOT_INITIALIZED,
                fmt::format("another thread is in {} of this PE; finalize when all threads have "
                            "made their last call",
                            spoken("chime_finalize")));
  Process& all = process();
  std::lock_guard lock(all.mutex);
  if (!failed_init_of_thread.empty())
    throw Error("setup", CHIMEX_ERR_NOT_INITIALIZED, why_not_initialized(all));
  for (const auto& slot : all.slots)
    if (is_alive(*slot))
      throw Error(
          "setup", CHIMEX_ERR_NOT_INITIALIZED,
          "this process has several PEs and this thread is bound to none; call chimex_pe_bind");
  throw Error("setup", CHIMEX_ERR_NOT_INITIALIZED, why_not_initialized(all));
}

Runtime& ready_runtime() {
  Runtime& runtime = current_runtime();
  PeSlot& slot = *current_slot();
  // Pairs with the release in publish_context.
  if (!slot.is_ready.load(std::memory_order_acquire)) runtime.build_device(slot);
  return runtime;
}

void bind_thread(int pe) {
  throw_if_child_of_pes();
  Process& all = process();
  std::lock_guard lock(all.mutex);
  std::string here;
  for (const auto& slot : all.slots) {
    if (!is_alive(*slot)) continue;
    if (slot->pe == pe) {
      failed_init_of_thread.clear();
      return bind(*slot);
    }
    here += fmt::format("{}{}", here.empty() ? "" : ", ", slot->pe);
  }
  throw Error("setup", CHIMEX_ERR_INVALID,
              here.empty()
                  ? "no PE of this process is initialised"
                  : fmt::format("PE {} does not live in this process, which has PE {}", pe, here));
}

int current_pe_or_none() {
  PeSlot* slot = current_slot();
  return slot ? slot->pe : -1;
}

int pe_for_messages() {
  if (is_child_of_pes()) return -1;
  return bound_slot ? bound_slot->pe : current_pe_or_none();
}

void for_each_pe(const std::function<void(PeSlot&)>& visit) {
  Process& all = process();
  std::lock_guard lock(all.mutex);
  for (const auto& slot : all.slots)
    if (is_alive(*slot)) visit(*slot);
}

}  // namespace chime::host
