// Every PTX instruction that Chime spells out, one function each. Only exec includes this.
//
// Order, scope, operation and type are pasted into the instruction by the "C" operand (CUDA 12.4 or
// newer), so that each form is written once. Addresses are generic: a PE's peer may be memory of
// another GPU, of the host, or shared memory. Every access that other threads can see is volatile
// and clobbers memory, so that the compiler keeps it where the source has it.
#ifndef CHIME_DEVICE_PTX_CUH_
#define CHIME_DEVICE_PTX_CUH_

#include <cstddef>
#include <cstdint>

namespace chime::exec {

enum class Order { kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };
enum class Scope { kBlock, kDevice, kSystem };

struct alignas(16) Vec16Halves {
  std::uint64_t word[2];
};
struct alignas(16) Vec16 {
  std::uint32_t w[4];
};

namespace ptx {

// ---- Words of an instruction -------------------------------------------------------------------

template <Order>
struct OrderText;
template <Scope>
struct ScopeText;

#define CHIME_PTX_TEXT(STRUCT, VALUE, TEXT)        \
  template <>                                      \
  struct STRUCT<VALUE> {                           \
    static constexpr const char text[] = "." TEXT; \
  };
CHIME_PTX_TEXT(OrderText, Order::kRelaxed, "relaxed")
CHIME_PTX_TEXT(OrderText, Order::kAcquire, "acquire")
CHIME_PTX_TEXT(OrderText, Order::kRelease, "release")
CHIME_PTX_TEXT(OrderText, Order::kAcqRel, "acq_rel")
CHIME_PTX_TEXT(ScopeText, Scope::kBlock, "cta")
CHIME_PTX_TEXT(ScopeText, Scope::kDevice, "gpu")
CHIME_PTX_TEXT(ScopeText, Scope::kSystem, "sys")
#undef CHIME_PTX_TEXT

// What an atomic instruction does, with the type it does it on.
#define CHIME_PTX_OPERATION(NAME, TEXT)            \
  struct NAME {                                    \
    static constexpr const char text[] = "." TEXT; \
  };
CHIME_PTX_OPERATION(AddU32, "add.u32")
CHIME_PTX_OPERATION(AddU64, "add.u64")
CHIME_PTX_OPERATION(MinU32, "min.u32")
CHIME_PTX_OPERATION(MinS32, "min.s32")
CHIME_PTX_OPERATION(MinU64, "min.u64")
CHIME_PTX_OPERATION(MinS64, "min.s64")
CHIME_PTX_OPERATION(MaxU32, "max.u32")
CHIME_PTX_OPERATION(MaxS32, "max.s32")
CHIME_PTX_OPERATION(MaxU64, "max.u64")
CHIME_PTX_OPERATION(MaxS64, "max.s64")
CHIME_PTX_OPERATION(And32, "and.b32")
CHIME_PTX_OPERATION(And64, "and.b64")
CHIME_PTX_OPERATION(Or32, "or.b32")
CHIME_PTX_OPERATION(Or64, "or.b64")
CHIME_PTX_OPERATION(Xor32, "xor.b32")
CHIME_PTX_OPERATION(Xor64, "xor.b64")
CHIME_PTX_OPERATION(Exchange32, "exch.b32")
CHIME_PTX_OPERATION(Exchange64, "exch.b64")
#undef CHIME_PTX_OPERATION

// ---- Loads and stores of 1, 2, 4, 8 and 16 bytes -----------------------------------------------

template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint8_t ld(const std::uint8_t* p) {
  std::uint16_t v;  // PTX has no 8-bit registers
  asm volatile("ld%1%2.u8 %0, [%3];"
               : "=h"(v)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p)
               : "memory");
  return static_cast<std::uint8_t>(v);
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint16_t ld(const std::uint16_t* p) {
  std::uint16_t v;
  asm volatile("ld%1%2.u16 %0, [%3];"
               : "=h"(v)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p)
               : "memory");
  return v;
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint32_t ld(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld%1%2.u32 %0, [%3];"
               : "=r"(v)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p)
               : "memory");
  return v;
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint64_t ld(const std::uint64_t* p) {
  std::uint64_t v;
  asm volatile("ld%1%2.u64 %0, [%3];"
               : "=l"(v)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p)
               : "memory");
  return v;
}

template <Order kOrder, Scope kScope>
__device__ __forceinline__ void st(std::uint8_t* p, std::uint8_t v) {
  asm volatile("st%0%1.u8 [%2], %3;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "l"(p), "h"(static_cast<std::uint16_t>(v))
               : "memory");
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ void st(std::uint16_t* p, std::uint16_t v) {
  asm volatile("st%0%1.u16 [%2], %3;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "l"(p), "h"(v)
               : "memory");
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ void st(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st%0%1.u32 [%2], %3;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "l"(p), "r"(v)
               : "memory");
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ void st(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st%0%1.u64 [%2], %3;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "l"(p), "l"(v)
               : "memory");
}

__device__ __forceinline__ void st_mmio(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.mmio.relaxed.sys.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

// Four 4-byte accesses of one instruction: no order among the four.
// Halves of 8 bytes: PTX models a vector access as one access per component, in any order.
__device__ __forceinline__ Vec16 ld_16(const void* p) {
  Vec16Halves half;
  asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
               : "=l"(half.word[0]), "=l"(half.word[1])
               : "l"(p)
               : "memory");
  return __builtin_bit_cast(Vec16, half);
}
__device__ __forceinline__ void st_16(void* p, Vec16 v) {
  const auto half = __builtin_bit_cast(Vec16Halves, v);
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(half.word[0]),
               "l"(half.word[1])
               : "memory");
}

// ---- Fences ------------------------------------------------------------------------------------

template <Scope kScope>
__device__ __forceinline__ void fence_acq_rel() {
  asm volatile("fence.acq_rel%0;" ::"C"(ScopeText<kScope>::text) : "memory");
}
template <Scope kScope>
__device__ __forceinline__ void fence_sc() {
  asm volatile("fence.sc%0;" ::"C"(ScopeText<kScope>::text) : "memory");
}

// ---- Read-modify-write -------------------------------------------------------------------------

template <class Op, Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint32_t atom(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t old;
  asm volatile("atom%1%2%3 %0, [%4], %5;"
               : "=r"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "C"(Op::text), "l"(p),
                 "r"(v)
               : "memory");
  return old;
}
template <class Op, Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint64_t atom(std::uint64_t* p, std::uint64_t v) {
  std::uint64_t old;
  asm volatile("atom%1%2%3 %0, [%4], %5;"
               : "=l"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "C"(Op::text), "l"(p),
                 "l"(v)
               : "memory");
  return old;
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ float atom_add(float* p, float v) {
  float old;
  asm volatile("atom%1%2.add.f32 %0, [%3], %4;"
               : "=f"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p), "f"(v)
               : "memory");
  return old;
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ double atom_add(double* p, double v) {
  double old;
  asm volatile("atom%1%2.add.f64 %0, [%3], %4;"
               : "=d"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p), "d"(v)
               : "memory");
  return old;
}

template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint32_t cas(std::uint32_t* p, std::uint32_t expected,
                                             std::uint32_t desired) {
  std::uint32_t old;
  asm volatile("atom%1%2.cas.b32 %0, [%3], %4, %5;"
               : "=r"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p), "r"(expected),
                 "r"(desired)
               : "memory");
  return old;
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ std::uint64_t cas(std::uint64_t* p, std::uint64_t expected,
                                             std::uint64_t desired) {
  std::uint64_t old;
  asm volatile("atom%1%2.cas.b64 %0, [%3], %4, %5;"
               : "=l"(old)
               : "C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text), "l"(p), "l"(expected),
                 "l"(desired)
               : "memory");
  return old;
}

// Without the old value: the memory system need not answer.
template <class Op, Order kOrder, Scope kScope>
__device__ __forceinline__ void red(std::uint32_t* p, std::uint32_t v) {
  asm volatile("red%0%1%2 [%3], %4;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "C"(Op::text), "l"(p), "r"(v)
               : "memory");
}
template <class Op, Order kOrder, Scope kScope>
__device__ __forceinline__ void red(std::uint64_t* p, std::uint64_t v) {
  asm volatile("red%0%1%2 [%3], %4;" ::"C"(OrderText<kOrder>::text), "C"(ScopeText<kScope>::text),
               "C"(Op::text), "l"(p), "l"(v)
               : "memory");
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ void red_add(float* p, float v) {
  asm volatile("red%0%1.add.f32 [%2], %3;" ::"C"(OrderText<kOrder>::text),
               "C"(ScopeText<kScope>::text), "l"(p), "f"(v)
               : "memory");
}
template <Order kOrder, Scope kScope>
__device__ __forceinline__ void red_add(double* p, double v) {
  asm volatile("red%0%1.add.f64 [%2], %3;" ::"C"(OrderText<kOrder>::text),
               "C"(ScopeText<kScope>::text), "l"(p), "d"(v)
               : "memory");
}

// ---- Who, when, where --------------------------------------------------------------------------

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
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

// Where the driver keeps the barrier word of a cooperative launch; null for any other launch. The
// same words that cooperative_groups reads.
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

[[noreturn]] __device__ __forceinline__ void exit() {
  asm volatile("exit;" ::: "memory");
  __builtin_unreachable();
}

// ---- Bulk copies (sm_90) -----------------------------------------------------------------------
// The async proxy reads and writes shared memory past the generic one: a proxy fence stands where
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
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(global)),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the copies are written, not only read.
__device__ __forceinline__ void bulk_wait_all() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace ptx
}  // namespace chime::exec

#endif  // CHIME_DEVICE_PTX_CUH_
