// The platform layer under nvcc: CUDA's functions under the names of device/README.md, "exec". This
// file has the qualifiers and types; threads, memory, asynchronous copies and the host side have
// files of their own. The instructions are in ptx.cuh and ptx_memory.cuh. Included by exec.cuh
// alone.
#ifndef CHIME_DEVICE_EXEC_CUDA_CUH_
#define CHIME_DEVICE_EXEC_CUDA_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#ifndef __CUDACC_RTC__  // NVRTC has these declarations built in
#include <cuda_runtime.h>
#endif

#include "chime/device/exec/ptx.cuh"

#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1204
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

// A variable of each translation unit's own, which the driver finds by its name if the unit may be
// compiled to be loaded alone. nvcc needs -DCHIME_MODULE for it; nvcc and NVRTC export only what
// other units could link with (-rdc=true). Units that are linked keep their variables apart.
// CHIME_MODULE is for a module of one unit: nvcc does not make this variable weak, and two such
// units do not link.
#if defined(CHIME_MODULE) || defined(__CUDACC_RTC__) || \
    (defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_RDC__))
#define CHIME_UNIT_CONSTANT(...)                  \
  extern "C" {                                    \
  __attribute__((weak)) __constant__ __VA_ARGS__; \
  }                                               \
  static_assert(true)
#else
#define CHIME_UNIT_CONSTANT(...) static __constant__ __VA_ARGS__
#endif
#ifdef __CUDA_ARCH__
#define CHIME_IF_DEVICE(a, b) a
#define CHIME_SWAP_BYTES(word) ::__byte_perm(word, 0, 0x0123)
#else
#define CHIME_IF_DEVICE(a, b) b
#endif

namespace chime::exec {

using ::dim3;
using ::uint3;
using half = ::__half;
using bfloat16 = ::__nv_bfloat16;
// Whether kernels compute with long double as host code does.
inline constexpr bool kHasLongDouble = false;

// By functions, because a program may have turned off half's operators and conversions. Float has
// enough bits that rounding twice equals rounding once.
CHIME_HOST_DEVICE half sum_of(half a, half b) {
  return ::__float2half_rn(::__half2float(a) + ::__half2float(b));
}

// As C computes it.
template <class Real>
CHIME_DEVICE Real rounded_product(Real a, Real b) {
  return ptx::mul_rn(a, b);
}

}  // namespace chime::exec

using chime_half_t = chime::exec::half;
using chime_bfloat16_t = chime::exec::bfloat16;

#include "chime/device/exec/exec_cuda_async.cuh"
#include "chime/device/exec/exec_cuda_memory.cuh"
#include "chime/device/exec/exec_cuda_multimem.cuh"
#include "chime/device/exec/exec_cuda_threads.cuh"
#include "chime/device/state_cuda.cuh"
#ifndef __CUDACC_RTC__  // NVRTC compiles kernels alone
#include "chime/device/exec/exec_cuda_host.cuh"
#include "chime/device/registration_cuda.cuh"
#endif
// Needs the state:
#include "chime/device/grid_cuda.cuh"

#endif  // CHIME_DEVICE_EXEC_CUDA_CUH_
