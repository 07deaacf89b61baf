// exec on the CPU: asynchronous bulk copies between global and shared memory.
//
// A copy happens when a thread waits for it, and not before, so that a kernel that forgets to wait
// computes on stale data here, too.
#pragma once

#include <cstdint>

#include "chime/device/simt/exec/export.hpp"

namespace chime::exec {

// Counts arrivals and bytes of one phase after another. Has the size that it has on a GPU. Lives in
// shared memory; use only the functions below.
struct alignas(8) Mbarrier {
  std::uint64_t expected : 20;  // arrivals per phase
  std::uint64_t arrived : 20;   // in the current phase
  std::uint64_t phase : 24;     // completed phases
};
static_assert(sizeof(Mbarrier) == 8);

}  // namespace chime::exec

namespace chime::simt {

CHIME_SIMT_EXPORT void mbarrier_init(exec::Mbarrier* barrier, unsigned arrivals);
// Announces `bytes`, then arrives `arrivals` times; returns the phase in which they count.
CHIME_SIMT_EXPORT unsigned mbarrier_arrive(exec::Mbarrier* barrier, unsigned arrivals,
                                           unsigned bytes);
CHIME_SIMT_EXPORT bool mbarrier_try_wait(exec::Mbarrier* barrier, unsigned parity);
CHIME_SIMT_EXPORT void bulk_to_shared(void* shared, const void* global, unsigned bytes,
                                      exec::Mbarrier* barrier);
CHIME_SIMT_EXPORT void bulk_from_shared(void* global, const void* shared, unsigned bytes);
CHIME_SIMT_EXPORT void bulk_commit();
// Returns when all closed groups of this thread but its latest `pending` are done.
CHIME_SIMT_EXPORT void bulk_wait(unsigned pending);

}  // namespace chime::simt

namespace chime::exec {

// One thread prepares the barrier for `arrivals` calls of mbarrier_expect_tx per phase; a
// sync_block must follow.
inline void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  simt::mbarrier_init(barrier, arrivals);
}
// Arrives, and announces `bytes` of copies that the phase must also wait for.
inline void mbarrier_expect_tx(Mbarrier* barrier, unsigned bytes) {
  simt::mbarrier_arrive(barrier, 1, bytes);
}
// Whether the phase of this parity (0, 1, 0, ...) is complete. A poll tick.
inline bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity) {
  return simt::mbarrier_try_wait(barrier, parity);
}
// Starts a copy that counts on `barrier`. 16-byte aligned addresses and size.
inline void bulk_to_shared(void* shared, const void* global, unsigned bytes, Mbarrier* barrier) {
  simt::bulk_to_shared(shared, global, bytes, barrier);
}
// Starts a copy in this thread's open group. 16-byte aligned addresses and size.
inline void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  simt::bulk_from_shared(global, shared, bytes);
}
inline void bulk_commit() { simt::bulk_commit(); }   // closes this thread's group of copies
inline void bulk_wait_all() { simt::bulk_wait(0); }  // returns when its closed groups are done

}  // namespace chime::exec
