// Memory operations of exec: each load, store, fence and atomic is one instruction, with its order
// and scope.
#include "chime/device/exec/exec.cuh"

using namespace chime::exec;

extern "C" CHIME_KERNEL void loads(const std::uint8_t* a, const std::uint16_t* b, const float* c,
                                   const std::int64_t* d, double* out) {
  out[0] = ld<Order::kRelaxed, Scope::kSystem>(a);
  out[1] = ld<Order::kRelaxed, Scope::kBlock>(b);
  out[2] = ld<Order::kAcquire, Scope::kSystem>(c);
  out[3] = static_cast<double>(ld<Order::kAcquire, Scope::kDevice>(d));
}
// PTX loads: 1 ld.relaxed.sys.global.u8, 1 ld.relaxed.cta.global.u16, 1 ld.acquire.sys.global.u32
// PTX loads: 1 ld.acquire.gpu.global.u64
// PTX loads: 0 fence, 0 membar, 0 ld.volatile

extern "C" CHIME_KERNEL void stores(std::uint8_t* a, half* b, float* c, double** d) {
  st<Order::kRelaxed, Scope::kSystem>(a, 1);
  st<Order::kRelaxed, Scope::kDevice>(b, half());
  st<Order::kRelease, Scope::kBlock>(c, 1.5f);
  st<Order::kRelease, Scope::kSystem>(d, nullptr);
}
// PTX stores: 1 st.relaxed.sys.global.u8, 1 st.relaxed.gpu.global.u16, 1 st.release.cta.global.u32
// PTX stores: 1 st.release.sys.global.u64
// PTX stores: 0 fence, 0 membar

extern "C" CHIME_KERNEL void sequentially_consistent(std::uint64_t* p) {
  st<Order::kSeqCst, Scope::kSystem>(p, ld<Order::kSeqCst, Scope::kSystem>(p + 1));
}
// PTX sequentially_consistent: 2 fence.sc.sys, 1 ld.acquire.sys.global.u64
// PTX sequentially_consistent: 1 st.release.sys.global.u64

extern "C" CHIME_KERNEL void wide(Vec16* dst, const Vec16* src) { st16(dst, ld16(src)); }
// PTX wide: 1 ld.relaxed.sys.global.v2.u64, 1 st.relaxed.sys.global.v2.u64

struct alignas(16) Row {
  std::uint64_t address;
  std::uint32_t key, strict_key;
};
extern "C" CHIME_KERNEL void settled(std::uint64_t* dst, const Row* rows,
                                     const std::uint32_t* route, std::uint64_t* const* peer) {
  const Row row = ld_settled(rows);
  dst[0] = row.address;
  dst[1] = row.key + row.strict_key + ld_settled(route);
  dst[2] = reinterpret_cast<std::uint64_t>(ld_settled(peer));
}
// PTX settled: 1 ld.global.v2.u64, 1 ld.global.u32, 1 ld.global.u64, 0 ld.relaxed

extern "C" CHIME_KERNEL void volatile_access(double* p) { st_volatile(p, ld_volatile(p + 1)); }
// PTX volatile_access: 1 ld.volatile, 1 st.volatile

extern "C" CHIME_KERNEL void fences() {
  fence<Order::kAcquire, Scope::kDevice>();
  fence<Order::kRelease, Scope::kSystem>();
  fence<Order::kAcqRel, Scope::kSystem>();
  fence<Order::kSeqCst, Scope::kBlock>();
}
// PTX fences: 1 fence.sc.cta, 0 membar
// PTX[80] fences: 1 fence.acq_rel.gpu, 2 fence.acq_rel.sys, 0 fence.release, 0 fence.acquire
// PTX[90] fences: 1 fence.acquire.gpu, 1 fence.release.sys, 1 fence.acq_rel.sys

extern "C" CHIME_KERNEL void updates(std::int32_t* a, std::uint64_t* b, std::int64_t* c, float* d,
                                     double* e) {
  a[1] = atomic_add<Order::kRelaxed, Scope::kSystem>(a, 1);
  b[1] = atomic_max<Order::kRelease, Scope::kDevice>(b, 2);
  c[1] = atomic_min<Order::kAcquire, Scope::kBlock>(c, -2);
  d[1] = atomic_add<Order::kAcqRel, Scope::kSystem>(d, 1.0f);
  e[1] = atomic_add<Order::kRelaxed, Scope::kSystem>(e, 1.0);
  d[2] = atomic_exchange<Order::kRelaxed, Scope::kSystem>(d, 2.0f);
  e[2] = atomic_cas<Order::kAcqRel, Scope::kSystem>(e, 0.0, 1.0);
  b[2] = atomic_or<Order::kRelaxed, Scope::kSystem>(b, 4);
  a[2] = atomic_xor<Order::kRelaxed, Scope::kSystem>(a, 4);
}
// PTX updates: 1 atom.relaxed.sys.global.add.u32, 1 atom.release.gpu.global.max.u64
// PTX updates: 1 atom.acquire.cta.global.min.s64
// PTX updates: 1 atom.acq_rel.sys.global.add.f32, 1 atom.relaxed.sys.global.add.f64
// PTX updates: 1 atom.relaxed.sys.global.exch.b32
// PTX updates: 1 atom.acq_rel.sys.global.cas.b64, 1 atom.relaxed.sys.global.or.b64
// PTX updates: 1 atom.relaxed.sys.global.xor.b32
// PTX updates: 0 fence, 0 red

extern "C" CHIME_KERNEL void reductions(std::uint32_t* a, std::int64_t* b, double* c) {
  red_add<Order::kRelaxed, Scope::kSystem>(a, 1);
  red_add<Order::kRelease, Scope::kSystem>(b, -1);
  red_add<Order::kRelaxed, Scope::kDevice>(c, 1.0);
  red_and<Order::kRelaxed, Scope::kSystem>(a, 1);
}
// PTX reductions: 1 red.relaxed.sys.global.add.u32, 1 red.release.sys.global.add.u64
// PTX reductions: 1 red.relaxed.gpu.global.add.f64
// PTX reductions: 1 red.relaxed.sys.global.and.b32, 0 atom

extern "C" CHIME_KERNEL void ended_early(int* p) {
  if (*p == 0) end_thread();
  *p = 1;
}
// PTX ended_early: 1 exit
