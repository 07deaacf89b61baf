// Every PTX instruction that Chime writes itself, one function each; loads, stores, atomics and
// fences are in ptx_memory.cuh. Only exec includes this.
#ifndef CHIME_DEVICE_PTX_CUH_
#define CHIME_DEVICE_PTX_CUH_

#include <cstdint>

#include "chime/device/exec/ptx_memory.cuh"

namespace chime::exec::ptx {

// ---- Identity, time, place ----------------------------------------------------------------------

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ unsigned lanes_below() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
__device__ __forceinline__ unsigned lanes_above() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(mask));
  return mask;
}

// Nanoseconds of the device's global timer. Its step is about 1 us on some GPUs.
__device__ __forceinline__ std::uint64_t global_timer() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ __forceinline__ std::uint64_t cycle_counter() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

// Rounded by themselves: ptxas fuses a product with a sum where no rounding is written.
__device__ __forceinline__ float mul_rn(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
__device__ __forceinline__ double mul_rn(double a, double b) {
  double product;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(a), "d"(b));
  return product;
}

// Where the driver keeps the barrier word of a cooperative launch; null for any other launch.
// cooperative_groups reads the same words.
struct GridWorkspace {
  std::uint32_t bytes;
  std::uint32_t barrier;
};
__device__ __forceinline__ GridWorkspace* grid_workspace() {
  std::uint32_t high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return reinterpret_cast<GridWorkspace*>(static_cast<std::uint64_t>(high) << 32 | low);
}

__device__ __forceinline__ void barrier_sync(unsigned id, unsigned threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ bool barrier_or(unsigned id, unsigned threads, bool p) {
  unsigned held;
  asm volatile(
      "{\n"
      "  .reg .pred p, q;\n"
      "  setp.ne.u32 p, %3, 0;\n"
      "  barrier.red.or.pred q, %1, %2, p;\n"
      "  selp.u32 %0, 1, 0, q;\n"
      "}"
      : "=r"(held)
      : "r"(id), "r"(threads), "r"(static_cast<unsigned>(p))
      : "memory");
  return held != 0;
}

[[noreturn]] __device__ __forceinline__ void exit() {
  asm volatile("exit;" ::: "memory");
  __builtin_unreachable();
}

// ---- Bulk copies (sm_90) -----------------------------------------------------------------------
// The async proxy accesses shared memory apart from the generic one: a proxy fence is needed where
// one follows the other.

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ bool mbarrier_try_wait(std::uint64_t* barrier, unsigned parity) {
  std::uint32_t done;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void bulk_to_shared(void* shared, const void* global, unsigned bytes,
                                               std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global_address(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global_address(global)),
      "r"(shared_address(shared)), "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the copies are written, not only until their sources are read.
__device__ __forceinline__ void bulk_wait_all() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace chime::exec::ptx

#endif  // CHIME_DEVICE_PTX_CUH_
