// Memory on the device and on the host for kernels without symmetric memory, and the number of
// blocks that can run at the same time.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace chime::perf {

[[noreturn]] inline void end_with(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, exec::last_error());
  std::exit(1);
}

// On the device; never freed.
template <class T>
T* on_the_gpu(std::size_t bytes = sizeof(T)) {
  void* memory = nullptr;
  if (exec::device_malloc(&memory, bytes) != CHIMEX_OK) end_with("no memory on the device");
  return static_cast<T*>(memory);
}

// Pinned, at its address for kernels, and zero; never freed. `bytes`: whole pages of 4096.
template <class T>
T* on_the_host(std::size_t bytes) {
  void* memory = nullptr;
#if CHIME_PERF_CYCLES  // a GPU's program (CMakeLists.txt)
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess)
    end_with("no pinned memory");
#else
  memory = std::aligned_alloc(4096, bytes);
#endif
  std::memset(memory, 0, bytes);
  return static_cast<T*>(memory);
}

// The most small blocks that can run at the same time: blocks that wait for each other must not be
// more.
inline std::size_t most_resident_blocks() {
  exec::DeviceProps props;
  if (exec::device_props(0, &props) != CHIMEX_OK) end_with("no device");
  return static_cast<std::size_t>(props.multiprocessors) *
         static_cast<std::size_t>(props.max_blocks_per_multiprocessor);
}

}  // namespace chime::perf
