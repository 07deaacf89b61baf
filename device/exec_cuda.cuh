// The platform layer under nvcc, device side: CUDA's words behind the names of README.md, "exec".
// Included by exec.cuh alone. The host side is exec_cuda_host.cuh, the instructions are in ptx.cuh.
#ifndef CHIME_DEVICE_EXEC_CUDA_CUH_
#define CHIME_DEVICE_EXEC_CUDA_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/device/ptx.cuh"

#if __CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 4)
#error "Chime needs CUDA 12.4 or newer"
#endif

#define CHIME_KERNEL __global__
#define CHIME_DEVICE __device__ __forceinline__
#define CHIME_DEVICE_OUT_OF_LINE inline __device__ __noinline__
#define CHIME_HOST_DEVICE __host__ __device__ __forceinline__
#define CHIME_SHARED_VAR(T, name) __shared__ T name
#define CHIME_SHARED_ARRAY(T, name, N) __shared__ T name[N]
#define CHIME_DYNAMIC_SHARED(T, name)                                    \
  extern __shared__ __align__(128) unsigned char chime_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(chime_dynamic_shared)
#define CHIME_GRID_CONSTANT __grid_constant__
#define CHIME_LAUNCH_BOUNDS(...) __launch_bounds__(__VA_ARGS__)
#define CHIME_REGISTER_KERNEL(...) static_assert(true)
#ifdef __CUDA_ARCH__
#define CHIME_IF_DEVICE(a, b) a
#else
#define CHIME_IF_DEVICE(a, b) b
#endif

// The device runtime's assertion: prints its words on stderr and ends all kernels of the process.
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char* message,
                                                                  const char* file, unsigned line,
                                                                  const char* function,
                                                                  std::size_t char_bytes);

namespace chime::exec {

using ::dim3;
using ::uint3;
using half = ::__half;
using bfloat16 = ::__nv_bfloat16;

// ---- Identity ----------------------------------------------------------------------------------

CHIME_DEVICE uint3 thread_idx() { return threadIdx; }
CHIME_DEVICE uint3 block_idx() { return blockIdx; }
CHIME_DEVICE dim3 block_dim() { return blockDim; }
CHIME_DEVICE dim3 grid_dim() { return gridDim; }
CHIME_DEVICE unsigned lane_id() { return ptx::lane_id(); }
CHIME_DEVICE unsigned thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
CHIME_DEVICE unsigned warp_id() { return thread_rank() / 32; }
CHIME_DEVICE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
CHIME_DEVICE unsigned block_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
CHIME_DEVICE unsigned grid_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
CHIME_DEVICE std::uint64_t grid_rank() {
  return static_cast<std::uint64_t>(block_rank()) * block_threads() + thread_rank();
}
CHIME_DEVICE std::uint64_t grid_threads() {
  return static_cast<std::uint64_t>(grid_blocks()) * block_threads();
}
CHIME_HOST_DEVICE constexpr bool in_kernel() { CHIME_IF_DEVICE(return true, return false); }

// ---- The end of a thread -----------------------------------------------------------------------

[[noreturn]] CHIME_DEVICE void end_thread() { ptx::exit(); }

// The rest of the kernel notices in sync_grid (grid_cuda.cuh), by the error that was recorded.
[[noreturn]] CHIME_DEVICE void end_kernel() { ptx::exit(); }

// An assertion and not a printf followed by a trap: no stack for arguments, and the words reach
// stderr also when nothing synchronises with the kernel afterwards.
[[noreturn]] CHIME_DEVICE void trap(const char* why) { __assertfail(why, "chime", 0, "trap", 1); }

// ---- Memory ------------------------------------------------------------------------------------

namespace detail {

// The unsigned integer of a value's size: what instructions carry.
template <std::size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct WordOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct WordOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct WordOf<8> : std::type_identity<std::uint64_t> {};
template <class T>
using Word = typename WordOf<sizeof(T)>::type;

template <class T>
CHIME_DEVICE Word<T> to_word(T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return __builtin_bit_cast(Word<T>, value);
}
template <class T>
CHIME_DEVICE Word<T>* word_pointer(T* p) {
  return reinterpret_cast<Word<T>*>(p);
}
template <class T>
CHIME_DEVICE const Word<T>* word_pointer(const T* p) {
  return reinterpret_cast<const Word<T>*>(p);
}

// A sequentially consistent access is a fence.sc followed by the strongest order PTX has for it.
template <Order kOrder, Scope kScope>
CHIME_DEVICE void fence_before() {
  if constexpr (kOrder == Order::kSeqCst) ptx::fence_sc<kScope>();
}
template <Order kOrder>
inline constexpr Order kLoadOrder = kOrder == Order::kSeqCst ? Order::kAcquire : kOrder;
template <Order kOrder>
inline constexpr Order kStoreOrder = kOrder == Order::kSeqCst ? Order::kRelease : kOrder;
template <Order kOrder>
inline constexpr Order kUpdateOrder = kOrder == Order::kSeqCst ? Order::kAcqRel : kOrder;

template <class T>
inline constexpr bool is_signed_integer = std::is_signed_v<T>&& std::is_integral_v<T>;
template <class T, class Op32, class Op64>
using BySize = std::conditional_t<sizeof(T) == 4, Op32, Op64>;

template <class Op, Order kOrder, Scope kScope, class T>
CHIME_DEVICE T update(T* p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  fence_before<kOrder, kScope>();
  return __builtin_bit_cast(
      T, ptx::atom<Op, kUpdateOrder<kOrder>, kScope>(word_pointer(p), to_word(value)));
}
template <class Op, Order kOrder, Scope kScope, class T>
CHIME_DEVICE void reduce(T* p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease,
                "a reduction reads nothing that could be acquired");
  ptx::red<Op, kOrder, kScope>(word_pointer(p), to_word(value));
}

}  // namespace detail

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T ld(const T* p) {
  static_assert(kOrder != Order::kRelease && kOrder != Order::kAcqRel, "a load does not release");
  detail::fence_before<kOrder, kScope>();
  return __builtin_bit_cast(T,
                            ptx::ld<detail::kLoadOrder<kOrder>, kScope>(detail::word_pointer(p)));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void st(T* p, std::type_identity_t<T> value) {
  static_assert(kOrder != Order::kAcquire && kOrder != Order::kAcqRel, "a store does not acquire");
  detail::fence_before<kOrder, kScope>();
  ptx::st<detail::kStoreOrder<kOrder>, kScope>(detail::word_pointer(p), detail::to_word(value));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_add(T* p, std::type_identity_t<T> value) {
  if constexpr (std::is_floating_point_v<T>) {
    detail::fence_before<kOrder, kScope>();
    return ptx::atom_add<detail::kUpdateOrder<kOrder>, kScope>(p, value);
  } else {
    return detail::update<detail::BySize<T, ptx::AddU32, ptx::AddU64>, kOrder, kScope>(p, value);
  }
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_exchange(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Exchange32, ptx::Exchange64>, kOrder, kScope>(p,
                                                                                             value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_and(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::And32, ptx::And64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_or(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Or32, ptx::Or64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_xor(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Xor32, ptx::Xor64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_min(T* p, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "the hardware compares integers");
  using Op =
      std::conditional_t<detail::is_signed_integer<T>, detail::BySize<T, ptx::MinS32, ptx::MinS64>,
                         detail::BySize<T, ptx::MinU32, ptx::MinU64>>;
  return detail::update<Op, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_max(T* p, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "the hardware compares integers");
  using Op =
      std::conditional_t<detail::is_signed_integer<T>, detail::BySize<T, ptx::MaxS32, ptx::MaxS64>,
                         detail::BySize<T, ptx::MaxU32, ptx::MaxU64>>;
  return detail::update<Op, kOrder, kScope>(p, value);
}

// Compares bits: a float that differs only in the sign of zero is another value.
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_cas(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  detail::fence_before<kOrder, kScope>();
  return __builtin_bit_cast(
      T, ptx::cas<detail::kUpdateOrder<kOrder>, kScope>(
             detail::word_pointer(p), detail::to_word(expected), detail::to_word(desired)));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_add(T* p, std::type_identity_t<T> value) {
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease,
                  "a reduction reads nothing that could be acquired");
    ptx::red_add<kOrder, kScope>(p, value);
  } else {
    detail::reduce<detail::BySize<T, ptx::AddU32, ptx::AddU64>, kOrder, kScope>(p, value);
  }
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_and(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::And32, ptx::And64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_or(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::Or32, ptx::Or64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_xor(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::Xor32, ptx::Xor64>, kOrder, kScope>(p, value);
}

template <Order kOrder = Order::kSeqCst, Scope kScope = Scope::kSystem>
CHIME_DEVICE void fence() {
  static_assert(kOrder != Order::kRelaxed, "a relaxed fence orders nothing");
  if constexpr (kOrder == Order::kSeqCst) {
    ptx::fence_sc<kScope>();
  } else {
    ptx::fence_acq_rel<kScope>();  // PTX has no weaker fence before sm_90
  }
}

// A relaxed store of 8 bytes to a device's register, as one access.
CHIME_DEVICE void st_mmio(std::uint64_t* p, std::uint64_t value) { ptx::st_mmio(p, value); }

CHIME_DEVICE Vec16 ld16(const void* p) { return ptx::ld_16(p); }
CHIME_DEVICE void st16(void* p, Vec16 value) { ptx::st_16(p, value); }
// The CPU's memcpy is faster than a loop of words; a GPU has none.
CHIME_DEVICE constexpr bool memcpy_is_relaxed() { return false; }

template <class T>
CHIME_DEVICE T ld_volatile(const T* p) {
  return __builtin_bit_cast(T,
                            *static_cast<const volatile detail::Word<T>*>(detail::word_pointer(p)));
}
template <class T>
CHIME_DEVICE void st_volatile(T* p, std::type_identity_t<T> value) {
  *static_cast<volatile detail::Word<T>*>(detail::word_pointer(p)) = detail::to_word(value);
}

// ---- Rendezvous --------------------------------------------------------------------------------

CHIME_DEVICE void sync_warp(unsigned mask = ~0u) { __syncwarp(mask); }
CHIME_DEVICE void sync_block() { __syncthreads(); }
// The same, of threads none of which may have ended: the CPU device reports one that has.
CHIME_DEVICE void sync_whole_block() { __syncthreads(); }
CHIME_DEVICE bool sync_whole_block_or(bool p) { return __syncthreads_or(p) != 0; }
CHIME_DEVICE void sync_named(int id, unsigned threads) { ptx::barrier_sync(id, threads); }
CHIME_DEVICE int sync_block_count(bool p) { return __syncthreads_count(p); }
CHIME_DEVICE bool sync_block_or(bool p) { return __syncthreads_or(p) != 0; }
CHIME_DEVICE bool sync_block_and(bool p) { return __syncthreads_and(p) != 0; }

// ---- Warp --------------------------------------------------------------------------------------

namespace detail {

// A value in 32-bit words, as shuffles carry it.
template <class T>
struct ShuffleWords {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  static constexpr int kCount = (sizeof(T) + 3) / 4;
  std::uint32_t word[kCount] = {};
};

template <class T, class Shuffle>
CHIME_DEVICE T shuffle(T value, Shuffle each_word) {
  ShuffleWords<T> words;
  memcpy(words.word, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < ShuffleWords<T>::kCount; ++i) words.word[i] = each_word(words.word[i]);
  memcpy(&value, words.word, sizeof(T));
  return value;
}

}  // namespace detail

template <class T>
CHIME_DEVICE T shfl(unsigned mask, T value, int lane) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_sync(mask, w, lane); });
}
template <class T>
CHIME_DEVICE T shfl_xor(unsigned mask, T value, int lanes) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_xor_sync(mask, w, lanes); });
}
template <class T>
CHIME_DEVICE T shfl_up(unsigned mask, T value, unsigned delta) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_up_sync(mask, w, delta); });
}
template <class T>
CHIME_DEVICE T shfl_down(unsigned mask, T value, unsigned delta) {
  return detail::shuffle(value, [=](std::uint32_t w) { return __shfl_down_sync(mask, w, delta); });
}
CHIME_DEVICE unsigned ballot(unsigned mask, bool p) { return __ballot_sync(mask, p); }
CHIME_DEVICE bool any(unsigned mask, bool p) { return __any_sync(mask, p) != 0; }
CHIME_DEVICE bool all(unsigned mask, bool p) { return __all_sync(mask, p) != 0; }
CHIME_DEVICE unsigned active_mask() { return __activemask(); }

// Of a mask of 4 or 8 bytes: how many bits are set, and the number of the lowest (of none:
// undefined).
CHIME_DEVICE unsigned count_bits(std::uint32_t mask) { return static_cast<unsigned>(__popc(mask)); }
CHIME_DEVICE unsigned count_bits(std::uint64_t mask) {
  return static_cast<unsigned>(__popcll(mask));
}
CHIME_DEVICE unsigned lowest_bit(std::uint32_t mask) {
  return static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
}
CHIME_DEVICE unsigned lowest_bit(std::uint64_t mask) {
  return static_cast<unsigned>(__ffsll(static_cast<long long>(mask)) - 1);
}

// True in one lane of `mask`: the lowest.
CHIME_DEVICE bool elect_one(unsigned mask) { return lane_id() == __ffs(mask) - 1u; }

// The lanes of `mask` that hold the same bits.
template <class T>
CHIME_DEVICE unsigned match_any(unsigned mask, T value) {
  if constexpr (sizeof(T) <= 8) {
    using Word = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;
    Word word = 0;
    memcpy(&word, &value, sizeof(T));
    return __match_any_sync(mask, word);
  } else {
    static_assert(sizeof(T) == 16);
    std::uint64_t half[2];
    memcpy(half, &value, sizeof(T));
    return __match_any_sync(mask, half[0]) & __match_any_sync(mask, half[1]);
  }
}

// The sum over the lanes of `mask`, in every one of them. Adds in lane order, as the CPU does.
template <class T>
CHIME_DEVICE T reduce_add(unsigned mask, T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    return static_cast<T>(__reduce_add_sync(mask, static_cast<std::uint32_t>(value)));
  } else {
    T sum = shfl(mask, value, __ffs(mask) - 1);
    for (unsigned rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
      sum = sum + shfl(mask, value, __ffs(rest) - 1);
    }
    return sum;
  }
}

// ---- Waiting -----------------------------------------------------------------------------------

CHIME_DEVICE void pause() {}
CHIME_DEVICE void wait_ended() {}
CHIME_DEVICE void nanosleep(unsigned ns) { __nanosleep(ns); }
CHIME_DEVICE std::uint64_t clock_ns() { return ptx::global_timer(); }
CHIME_DEVICE std::uint64_t clock() { return ptx::cycle_counter(); }

// ---- Asynchronous copies: sm_90 and newer ------------------------------------------------------

// Lies in shared memory.
struct Mbarrier {
  std::uint64_t word;
};

namespace detail {

// Nothing of the kernel is left to go wrong below sm_90: the first bulk operation traps.
template <class Operation>
CHIME_DEVICE void on_hopper(Operation operation) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  operation();
#else
  trap("chime: bulk copies need a GPU of compute capability 9.0, and code compiled for it");
#endif
}

}  // namespace detail

// `arrivals`: calls of mbarrier_expect_tx per phase. Other threads use it after a sync_block.
CHIME_DEVICE void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  detail::on_hopper([=] {
    ptx::mbarrier_init(&barrier->word, arrivals);
    ptx::fence_proxy_async();
  });
}

// Arrives, and adds `bytes` to what the phase waits for.
CHIME_DEVICE void mbarrier_expect_tx(Mbarrier* barrier, unsigned bytes) {
  detail::on_hopper([=] { ptx::mbarrier_arrive_expect_tx(&barrier->word, bytes); });
}

// Whether the phase of this parity is complete; may first wait for a time that the GPU bounds.
CHIME_DEVICE bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity) {
  bool done = false;
  detail::on_hopper([&] { done = ptx::mbarrier_try_wait(&barrier->word, parity); });
  return done;
}

// Addresses and `bytes` are multiples of 16.
CHIME_DEVICE void bulk_to_shared(void* shared, const void* global, unsigned bytes,
                                 Mbarrier* barrier) {
  detail::on_hopper([=] { ptx::bulk_to_shared(shared, global, bytes, &barrier->word); });
}

// What this thread, and threads it met at a barrier before, stored to `shared` is what gets copied.
CHIME_DEVICE void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  detail::on_hopper([=] {
    ptx::fence_proxy_async();
    ptx::bulk_from_shared(global, shared, bytes);
  });
}
CHIME_DEVICE void bulk_commit() {
  detail::on_hopper([] { ptx::bulk_commit(); });
}
CHIME_DEVICE void bulk_wait_all() {
  detail::on_hopper([] { ptx::bulk_wait_all(); });
}

}  // namespace chime::exec

using chime_half_t = chime::exec::half;
using chime_bfloat16_t = chime::exec::bfloat16;

#include "chime/device/exec_cuda_host.cuh"
#include "chime/device/state_cuda.cuh"
// Needs the state:
#include "chime/device/grid_cuda.cuh"

#endif  // CHIME_DEVICE_EXEC_CUDA_CUH_
