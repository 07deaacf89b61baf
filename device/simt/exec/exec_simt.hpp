// The platform layer (device/README.md, "exec") on the CPU: macros, and the headers that hold
// namespace chime::exec.
#pragma once

#include "chime/device/simt/exec/cuda_names.hpp"
#include "chime/device/simt/exec/exec_async.hpp"
#include "chime/device/simt/exec/exec_host.hpp"
#include "chime/device/simt/exec/exec_memory.hpp"
#include "chime/device/simt/exec/exec_multimem.hpp"
#include "chime/device/simt/exec/exec_threads.hpp"
#include "chime/device/simt/memory/shared_memory.hpp"
#include "chime/device/simt/trace/traced.hpp"

#define CHIME_KERNEL
#define CHIME_DEVICE inline
#define CHIME_DEVICE_OUT_OF_LINE inline __attribute__((noinline))
#define CHIME_HOST_DEVICE inline
#define CHIME_GRID_CONSTANT
#define CHIME_LAUNCH_BOUNDS(...)

#define CHIME_SHARED_VAR(T, name)    \
  struct chime_shared_tag_##name {}; \
  T& name = ::chime::simt::SharedSlot<chime_shared_tag_##name, T>::get()

#define CHIME_SHARED_ARRAY(T, name, N) \
  struct chime_shared_tag_##name {};   \
  T(&name)[N] = ::chime::simt::SharedSlot<chime_shared_tag_##name, T[N]>::get()

#define CHIME_DYNAMIC_SHARED(T, name) \
  T* name = reinterpret_cast<T*>(::chime::simt::current()->block->dynamic_shared)

// Statement `a` inside a kernel, `b` on a host thread.
#define CHIME_IF_DEVICE(a, b)       \
  if (::chime::exec::in_kernel()) { \
    a;                              \
  } else {                          \
    b;                              \
  }

#define CHIME_SIMT_CONCAT_(a, b) a##b
#define CHIME_SIMT_CONCAT(a, b) CHIME_SIMT_CONCAT_(a, b)

// At namespace scope: makes kernel `k` (commas allowed: a template-id) known to launch_erased.
#define CHIME_REGISTER_KERNEL(...)                                                              \
  [[maybe_unused]] static const bool CHIME_SIMT_CONCAT(chime_registered_kernel_, __COUNTER__) = \
      ::chime::simt::register_typed_kernel(__VA_ARGS__)
