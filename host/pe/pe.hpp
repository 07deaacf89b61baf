// Which PE a thread speaks for. A process with one PE needs no binding; with several (PEs as
// threads), each thread is bound to the one that it initialised or named by chimex_pe_bind.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>

#include "host/pe/own_process.hpp"
#include "host/pe/runtime.hpp"

namespace chime::host {

// A PE of this process. Never freed, so that a thread may hold one beyond its finalize: then
// `runtime` is null and `context.abi_version` is 0.
struct PeSlot {
  int pe = -1;
  int n_pes = 0;
  OnError on_error = OnError::kExit;
  OnPeerFailure on_peer_failure = OnPeerFailure::kAbort;
  std::atomic<bool> is_alive{true};  // until leave_pe
  std::atomic<pid_t> leaver{0};  // the thread that is in chime_finalize (setup/finalize_once.hpp)
  Context context = unfilled_context();  // of kernels
  // For host operations. Each thread has a copy with a record of failures of its own.
  Context host_context = unfilled_context();
  // Whether the device stage stands and the contexts are whole. Release in publish_context, acquire
  // by each thread that is about to use either.
  std::atomic<bool> is_ready{false};
  std::unique_ptr<Runtime> runtime;
};

// Whether the program may go on after failures. Then its operations go on, too, even while a
// failure is pending: other PEs wait for their data.
inline bool goes_on(const PeSlot& slot) {
  return slot.on_error == OnError::kReturn || slot.on_peer_failure == OnPeerFailure::kReport;
}

// Whether the PE goes on after a failure with `code`: one of a PE that is lost, and survivors go
// on.
inline bool survives(const PeSlot& slot, int code) {
  return slot.on_peer_failure == OnPeerFailure::kReport &&
         (code == CHIMEX_ERR_PEER_DEAD || code == CHIMEX_ERR_NETWORK);
}

namespace slots {

// That of the calling thread's own PE, past ones included. Read on every host operation:
// initial-exec makes it one load.
extern thread_local constinit PeSlot* bound_slot __attribute__((tls_model("initial-exec")));

// The PE of threads that are bound to none: the only one of the process, else null. The last that
// is left of several is nobody's but its own thread's.
extern constinit std::atomic<PeSlot*> only_slot;

// How many PEs of the process have not left.
extern constinit std::atomic<int> alive;

}  // namespace slots

// Makes `runtime` a PE of this process and binds the calling thread to it. The context is filled by
// publish_context once the device stage stands.
PeSlot& enter_pe(std::unique_ptr<Runtime> runtime);

// Makes `kernels` what chime::context() gives threads of that PE, and `host` what its host
// operations run with.
void publish_context(PeSlot& slot, const Context& kernels, const Context& host);

// The device stage of a PE, once it stands and the contexts are whole: for threads that do not need
// it and so have not called ready_runtime(), another of which may be building it. Null before, and
// once the PE has left.
inline DeviceStage* built_device(const PeSlot& slot) {
  // Pairs with the release in publish_context.
  return slot.is_ready.load(std::memory_order_acquire) ? slot.runtime->device.get() : nullptr;
}

// Takes the PE out of the process: the context is invalid from here on. The caller destroys the
// runtime.
std::unique_ptr<Runtime> leave_pe(PeSlot& slot);

// The PE that this very thread initialised or bound; null if it has none of its own.
inline PeSlot* bound_slot_of_thread() {
  PeSlot* const bound = slots::bound_slot;
  // Pairs with the release in leave_pe.
  return bound && bound->is_alive.load(std::memory_order_acquire) ? bound : nullptr;
}

// The calling thread's PE, also where this process is only a copy of the one in which that lives.
inline PeSlot* slot_or_copy() {
  if (PeSlot* const bound = bound_slot_of_thread()) return bound;
  return slots::only_slot.load(std::memory_order_acquire);
}

// The calling thread's PE; null if it has none. A child of the PE's process has none.
inline PeSlot* current_slot() { return is_own_process() ? slot_or_copy() : nullptr; }

// Whether another thread is taking the PE down: its runtime may be gone at any time.
inline bool is_left_by_another(const PeSlot& slot) {
  const pid_t leaver = slot.leaver.load(std::memory_order_relaxed);
  return leaver != 0 && leaver != gettid();
}

// The calling thread's PE, whose runtime stays while its call lasts; null if it has none, or if
// another thread is taking it down.
inline PeSlot* staying_slot() {
  PeSlot* const slot = current_slot();
  return slot && !is_left_by_another(*slot) ? slot : nullptr;
}

// Whether this process is a child by fork() of one with PEs, which has no part in their job.
inline bool is_child_of_pes() {
  return !is_own_process() && slots::alive.load(std::memory_order_relaxed) != 0;
}

// Throws Error{NOT_INITIALIZED} that says so. Takes no lock: a thread that the child does not have
// may hold it.
void throw_if_child_of_pes();

// Whether the calling thread had a PE that has left, and has not failed to join again; for a thread
// that never had its own, whether all PEs of the process have.
bool pe_has_left();

// The reason why chime_init has failed: later calls report it, until one succeeds. For the calling
// thread, and for threads that have made no attempt of their own.
void keep_failed_init(const std::string& why);
void forget_failed_init();

// The calling thread's PE; throws Error{NOT_INITIALIZED} that says which call is missing or failed,
// that another thread is in chime_finalize, or that this process is a child of the PE's.
Runtime& current_runtime();

// The calling thread's PE with its device stage, which is built now if it was put off. Collective
// then. Throws Error, on those that wait for this PE too, and the same again at every later call.
Runtime& ready_runtime();

// Binds the calling thread to PE `pe` of this process; throws Error{INVALID} if it does not live
// here.
void bind_thread(int pe);

// The number of the calling thread's PE; -1 if it has none.
int current_pe_or_none();

// The same, also after the PE has left or failed to join.
int pe_for_messages();

// Calls `visit` for every PE of this process.
void for_each_pe(const std::function<void(PeSlot&)>& visit);

}  // namespace chime::host
