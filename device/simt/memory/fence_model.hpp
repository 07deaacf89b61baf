// The order that fences make, for TSan, which knows only the order of single accesses.
//
// C++: what a thread did before a release fence happens before whatever follows an acquire of a
// store that it made after the fence. An acquire fence acquires what the loads before it have read.
// So:
// - A release fence makes a TSan fiber, whose history is what happened before the fence. A later
//   relaxed store first lets that fiber release the address.
// - A relaxed load is remembered; the next acquire fence acquires its address.
// Stores that a load decides about come after it on every machine, and C++ does not say so: there
// the load counts as an acquire, too (exec::stores_follow_loads()).
// No word is shared between fences: two fences alone order nothing, and a fence that stands too
// early orders too little.
#pragma once

#include <array>

#include "chime/device/simt/faults/sanitizers.hpp"

namespace chime::simt {

#if defined(CHIME_TSAN)

class FenceModel {
 public:
  void release_fence();
  void acquire_fence();
  void before_store(const void* address);
  void after_load(const void* address);
  void thread_ended();

 private:
  static constexpr unsigned kRemembered = 8;  // the latest addresses
  void* released_ = nullptr;                  // the fiber
  std::array<const void*, kRemembered> loaded_{};
  unsigned next_ = 0;
};

#else

class FenceModel {
 public:
  void thread_ended() {}
};

#endif

}  // namespace chime::simt
