// mbarriers and bulk copies. A copy happens when a thread waits for it, so that a kernel that
// forgets to wait computes on stale data.
#pragma once

#include "chime/device/simt/exec/exec_async.hpp"
#include "softgpu/vocabulary/memory.hpp"

namespace softgpu {

SOFTGPU_INLINE exec::Mbarrier* mbarrier(u64 address) { return at<exec::Mbarrier>(address); }

SOFTGPU_INLINE void mbarrier_init(u64 address, u32 arrivals) {
  simt::mbarrier_init(mbarrier(address), arrivals);
}
// The state is the phase in which the arrival counts.
SOFTGPU_INLINE u64 mbarrier_arrive(u64 address, u32 arrivals, u32 bytes) {
  return simt::mbarrier_arrive(mbarrier(address), arrivals, bytes);
}
SOFTGPU_INLINE bool mbarrier_wait(u64 address, u64 phase) {
  return simt::mbarrier_try_wait(mbarrier(address), static_cast<u32>(phase & 1));
}

SOFTGPU_INLINE void bulk_to_shared(u64 shared, u64 global, u32 bytes, u64 barrier) {
  simt::bulk_to_shared(at<void>(shared), at<const void>(global), bytes, mbarrier(barrier));
}
SOFTGPU_INLINE void bulk_from_shared(u64 global, u64 shared, u32 bytes) {
  simt::bulk_from_shared(at<void>(global), at<const void>(shared), bytes);
}

}  // namespace softgpu
