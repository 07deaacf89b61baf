// Every PTX instruction that reads, writes or orders memory by order and scope, one function each.
// Only exec includes this.
//
// All addresses are global: heaps, mapped peers, queues and mapped host memory. With a generic
// address ptxas would test the address space of each atomic at run time, and emit its code twice.
//
// Order and scope are words of the instruction, and inline assembly is a literal: `if constexpr`
// chooses among literals that macros write. Every access that other threads can see is volatile and
// clobbers memory, so that the compiler keeps it in its place.
#ifndef CHIME_DEVICE_PTX_MEMORY_CUH_
#define CHIME_DEVICE_PTX_MEMORY_CUH_

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

__device__ __forceinline__ std::size_t global_address(const void* p) {
  return __cvta_generic_to_global(p);
}

// ---- The words of an instruction ---------------------------------------------------------------
// Use in a function with template arguments kOrder and kScope. Makes the instruction whose text is
// BEFORE, the words of both, AFTER. Its operands follow, beginning with the colon before its
// results.

#define CHIME_PTX_SCOPED(BEFORE, AFTER, ...)                  \
  if constexpr (kScope == Scope::kBlock) {                    \
    asm volatile(BEFORE ".cta" AFTER __VA_ARGS__ : "memory"); \
  } else if constexpr (kScope == Scope::kDevice) {            \
    asm volatile(BEFORE ".gpu" AFTER __VA_ARGS__ : "memory"); \
  } else {                                                    \
    asm volatile(BEFORE ".sys" AFTER __VA_ARGS__ : "memory"); \
  }
#define CHIME_PTX_OF_ORDER(ORDER, WORD, BEFORE, AFTER, ...) \
  if constexpr (kOrder == ORDER) {                          \
    CHIME_PTX_SCOPED(BEFORE WORD, AFTER, __VA_ARGS__)       \
  }

// The orders that a load, a store, and an instruction that does both can have.
#define CHIME_PTX_LOAD(...)                                              \
  static_assert(kOrder == Order::kRelaxed || kOrder == Order::kAcquire); \
  CHIME_PTX_OF_ORDER(Order::kRelaxed, ".relaxed", __VA_ARGS__)           \
  CHIME_PTX_OF_ORDER(Order::kAcquire, ".acquire", __VA_ARGS__)
#define CHIME_PTX_STORE(...)                                             \
  static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease); \
  CHIME_PTX_OF_ORDER(Order::kRelaxed, ".relaxed", __VA_ARGS__)           \
  CHIME_PTX_OF_ORDER(Order::kRelease, ".release", __VA_ARGS__)
#define CHIME_PTX_UPDATE(...)                                  \
  static_assert(kOrder != Order::kSeqCst);                     \
  CHIME_PTX_OF_ORDER(Order::kRelaxed, ".relaxed", __VA_ARGS__) \
  CHIME_PTX_OF_ORDER(Order::kAcquire, ".acquire", __VA_ARGS__) \
  CHIME_PTX_OF_ORDER(Order::kRelease, ".release", __VA_ARGS__) \
  CHIME_PTX_OF_ORDER(Order::kAcqRel, ".acq_rel", __VA_ARGS__)

// ---- Loads and stores of 1, 2, 4 and 8 bytes ---------------------------------------------------

#define CHIME_PTX_ACCESS(T, REGISTER, CONSTRAINT, TYPE)                                           \
  template <Order kOrder, Scope kScope>                                                           \
  __device__ __forceinline__ T ld(const T* p) {                                                   \
    REGISTER v;                                                                                   \
    CHIME_PTX_LOAD("ld", ".global" TYPE " %0, [%1];",                                             \
                   : "=" CONSTRAINT(v)                                                            \
                   : "l"(global_address(p)))                                                      \
    return static_cast<T>(v);                                                                     \
  }                                                                                               \
  template <Order kOrder, Scope kScope>                                                           \
  __device__ __forceinline__ void st(T* p, T value) {                                             \
    const REGISTER v = value;                                                                     \
    CHIME_PTX_STORE("st", ".global" TYPE " [%0], %1;", : : "l"(global_address(p)), CONSTRAINT(v)) \
  }
CHIME_PTX_ACCESS(std::uint8_t, std::uint16_t, "h", ".u8")  // PTX has no 8-bit registers
CHIME_PTX_ACCESS(std::uint16_t, std::uint16_t, "h", ".u16")
CHIME_PTX_ACCESS(std::uint32_t, std::uint32_t, "r", ".u32")
CHIME_PTX_ACCESS(std::uint64_t, std::uint64_t, "l", ".u64")
#undef CHIME_PTX_ACCESS

// ---- Read-modify-write -------------------------------------------------------------------------
// One type for each operation on each type of word. atom returns the old value; red does not, so
// the memory system need not answer.

#define CHIME_PTX_ATOM(T, CONSTRAINT, OPERATION)                   \
  using Word = T;                                                  \
  template <Order kOrder, Scope kScope>                            \
  __device__ static __forceinline__ T atom(T* p, T v) {            \
    T old;                                                         \
    CHIME_PTX_UPDATE("atom", ".global" OPERATION " %0, [%1], %2;", \
                     : "=" CONSTRAINT(old)                         \
                     : "l"(global_address(p)), CONSTRAINT(v))      \
    return old;                                                    \
  }
#define CHIME_PTX_RED(T, CONSTRAINT, OPERATION)              \
  template <Order kOrder, Scope kScope>                      \
  __device__ static __forceinline__ void red(T* p, T v) {    \
    CHIME_PTX_STORE("red", ".global" OPERATION " [%0], %1;", \
                    :                                        \
                    : "l"(global_address(p)), CONSTRAINT(v)) \
  }
#define CHIME_PTX_SWAP(NAME, ...) \
  struct NAME {                   \
    CHIME_PTX_ATOM(__VA_ARGS__)   \
  };
#define CHIME_PTX_OPERATION(NAME, ...) \
  struct NAME {                        \
    CHIME_PTX_ATOM(__VA_ARGS__)        \
    CHIME_PTX_RED(__VA_ARGS__)         \
  };
CHIME_PTX_OPERATION(AddU32, std::uint32_t, "r", ".add.u32")
CHIME_PTX_OPERATION(AddU64, std::uint64_t, "l", ".add.u64")
CHIME_PTX_OPERATION(AddF32, float, "f", ".add.f32")
CHIME_PTX_OPERATION(AddF64, double, "d", ".add.f64")
CHIME_PTX_OPERATION(MinU32, std::uint32_t, "r", ".min.u32")
CHIME_PTX_OPERATION(MinS32, std::uint32_t, "r", ".min.s32")
CHIME_PTX_OPERATION(MinU64, std::uint64_t, "l", ".min.u64")
CHIME_PTX_OPERATION(MinS64, std::uint64_t, "l", ".min.s64")
CHIME_PTX_OPERATION(MaxU32, std::uint32_t, "r", ".max.u32")
CHIME_PTX_OPERATION(MaxS32, std::uint32_t, "r", ".max.s32")
CHIME_PTX_OPERATION(MaxU64, std::uint64_t, "l", ".max.u64")
CHIME_PTX_OPERATION(MaxS64, std::uint64_t, "l", ".max.s64")
CHIME_PTX_OPERATION(And32, std::uint32_t, "r", ".and.b32")
CHIME_PTX_OPERATION(And64, std::uint64_t, "l", ".and.b64")
CHIME_PTX_OPERATION(Or32, std::uint32_t, "r", ".or.b32")
CHIME_PTX_OPERATION(Or64, std::uint64_t, "l", ".or.b64")
CHIME_PTX_OPERATION(Xor32, std::uint32_t, "r", ".xor.b32")
CHIME_PTX_OPERATION(Xor64, std::uint64_t, "l", ".xor.b64")
CHIME_PTX_SWAP(Exchange32, std::uint32_t, "r", ".exch.b32")
CHIME_PTX_SWAP(Exchange64, std::uint64_t, "l", ".exch.b64")
#undef CHIME_PTX_OPERATION
#undef CHIME_PTX_SWAP
#undef CHIME_PTX_RED
#undef CHIME_PTX_ATOM

#define CHIME_PTX_CAS(T, CONSTRAINT, TYPE)                                                \
  template <Order kOrder, Scope kScope>                                                   \
  __device__ __forceinline__ T cas(T* p, T expected, T desired) {                         \
    T old;                                                                                \
    CHIME_PTX_UPDATE("atom", ".global.cas" TYPE " %0, [%1], %2, %3;",                     \
                     : "=" CONSTRAINT(old)                                                \
                     : "l"(global_address(p)), CONSTRAINT(expected), CONSTRAINT(desired)) \
    return old;                                                                           \
  }
CHIME_PTX_CAS(std::uint32_t, "r", ".b32")
CHIME_PTX_CAS(std::uint64_t, "l", ".b64")
#undef CHIME_PTX_CAS

// ---- Fences ------------------------------------------------------------------------------------

// Separate release and acquire fences need sm_90 and PTX 8.6 (CUDA 12.8 has it; clang does not say
// what it has). ptxas of CUDA 13.0 accepts them for sm_80, too, and makes an illegal instruction of
// them.
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208 && __CUDA_ARCH__ >= 900
#define CHIME_PTX_ONE_WAY_FENCE(WORD) "fence." WORD
#else
#define CHIME_PTX_ONE_WAY_FENCE(WORD) "fence.acq_rel"
#endif

template <Order kOrder, Scope kScope>
__device__ __forceinline__ void fence() {
  static_assert(kOrder != Order::kRelaxed, "a relaxed fence orders nothing");
  if constexpr (kOrder == Order::kAcquire) {
    CHIME_PTX_SCOPED(CHIME_PTX_ONE_WAY_FENCE("acquire"), ";", : :)
  } else if constexpr (kOrder == Order::kRelease) {
    CHIME_PTX_SCOPED(CHIME_PTX_ONE_WAY_FENCE("release"), ";", : :)
  } else if constexpr (kOrder == Order::kAcqRel) {
    CHIME_PTX_SCOPED("fence.acq_rel", ";", : :)
  } else {
    CHIME_PTX_SCOPED("fence.sc", ";", : :)
  }
}

#undef CHIME_PTX_ONE_WAY_FENCE
#undef CHIME_PTX_UPDATE
#undef CHIME_PTX_STORE
#undef CHIME_PTX_LOAD
#undef CHIME_PTX_OF_ORDER
#undef CHIME_PTX_SCOPED

// ---- 16 bytes, and a device's register ---------------------------------------------------------

// Two halves of 8 bytes: PTX models a vector access as one access for each component, in any order.
__device__ __forceinline__ Vec16 ld_16(const void* p) {
  Vec16Halves half;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(half.word[0]), "=l"(half.word[1])
               : "l"(global_address(p))
               : "memory");
  return __builtin_bit_cast(Vec16, half);
}
// No order, and not volatile: the compiler may load early, and once for several uses.
__device__ __forceinline__ std::uint32_t ld_settled_4(const void* p) {
  std::uint32_t value;
  asm("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(global_address(p)));
  return value;
}
__device__ __forceinline__ std::uint64_t ld_settled_8(const void* p) {
  std::uint64_t value;
  asm("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(global_address(p)));
  return value;
}
__device__ __forceinline__ Vec16 ld_settled_16(const void* p) {
  Vec16Halves half;
  asm("ld.global.v2.u64 {%0, %1}, [%2];"
      : "=l"(half.word[0]), "=l"(half.word[1])
      : "l"(global_address(p)));
  return __builtin_bit_cast(Vec16, half);
}
__device__ __forceinline__ void st_16(void* p, Vec16 v) {
  const auto half = __builtin_bit_cast(Vec16Halves, v);
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(global_address(p)),
               "l"(half.word[0]), "l"(half.word[1])
               : "memory");
}

// No instruction: the compiler then assumes that the memory at `p` differs from its registers.
__device__ __forceinline__ void forget(const void* p) { asm volatile("" : : "l"(p) : "memory"); }

__device__ __forceinline__ void st_mmio(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.mmio.relaxed.sys.global.u64 [%0], %1;" ::"l"(global_address(p)), "l"(v)
               : "memory");
}

}  // namespace ptx
}  // namespace chime::exec

#endif  // CHIME_DEVICE_PTX_MEMORY_CUH_
