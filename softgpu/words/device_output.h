// Output of a kernel, and the end for all its threads. The softgpu implements vprintf and
// __assertfail under these names, which are system calls on a GPU.
#pragma once

#include <cstddef>

extern "C" {
// clang turns a kernel's printf into a call of vprintf, with the arguments in a block of memory
// (LLVM's guide to NVPTX).
__device__ int printf(const char* format, ...);
__device__ int vprintf(const char* format, const char* arguments);

__device__ __attribute__((noreturn)) void __assertfail(const char* message, const char* file,
                                                       unsigned line, const char* function,
                                                       std::size_t char_bytes);
// Called by assert.
__device__ __forceinline__ void __assert_fail(const char* message, const char* file, unsigned line,
                                              const char* function) {
  __assertfail(message, file, line, function, 1);
}
}

__device__ __forceinline__ void __trap() { __builtin_trap(); }
