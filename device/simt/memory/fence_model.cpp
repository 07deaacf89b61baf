#include "chime/device/simt/memory/fence_model.hpp"

#include <algorithm>

#if defined(CHIME_TSAN)

#include "chime/device/simt/memory/weak_memory.hpp"
#include "chime/device/simt/threads/block.hpp"

namespace chime::simt {

void FenceModel::release_fence() {
  thread_ended();
  released_ = tsan_create_fiber();
}

void FenceModel::before_store(const void* address) {
  if (!released_) return;
  constexpr unsigned kNoSynchronisation = 1;
  void* self = tsan_current_fiber();
  __tsan_switch_to_fiber(released_, kNoSynchronisation);
  happens_before(address);
  __tsan_switch_to_fiber(self, kNoSynchronisation);
}

void FenceModel::after_load(const void* address) {
  if (std::find(loaded_.begin(), loaded_.end(), address) != loaded_.end()) return;
  loaded_[next_++ % kRemembered] = address;
}

void FenceModel::acquire_fence() {
  for (const void*& address : loaded_) {
    if (address) happens_after(address);
    address = nullptr;
  }
}

void FenceModel::thread_ended() {
  if (released_) tsan_destroy_fiber(released_);
  released_ = nullptr;
}

// ---- Calls of instrumented code -------------------------------------------------------------

namespace {
struct HostThread {
  FenceModel fences;
  ~HostThread() { fences.thread_ended(); }
};
FenceModel& fences_of_caller() {
  static thread_local HostThread host;
  return current() != nullptr ? running_thread().fences : host.fences;
}
}  // namespace

void tsan_before_store(const void* address) { fences_of_caller().before_store(address); }
void tsan_after_load(const void* address) { fences_of_caller().after_load(address); }
void tsan_loads_decide() { fences_of_caller().acquire_fence(); }
void tsan_fence(bool releases, bool acquires) {
  FenceModel& fences = fences_of_caller();
  if (acquires) fences.acquire_fence();  // first: what a fence acquires, it passes on
  if (releases) fences.release_fence();
}

}  // namespace chime::simt

#endif
