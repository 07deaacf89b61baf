// The calls of kernels/chime.cu, as far as NCCL's device API has them, on its GDAKI backend
// (GPU-direct through mlx5), in each of its sharing modes. GIN has no fetching atomics, and no SET
// for signals.
#include <nccl_device.h>

#include <cstddef>
#include <cstdint>

namespace {

using Gin = ncclGin;

// A position in a window; the peer's rank is the world's.
struct At {
  ncclWindow_t window;
  size_t offset;
};

template <class Coop>
__device__ void put_bytes(const ncclDevComm& comm, int context, ncclGinResourceSharingMode mode,
                          At dst, At src, size_t bytes, int pe) {
  Gin(comm, context, mode)
      .put(ncclTeamWorld(comm), pe, dst.window, dst.offset, src.window, src.offset, bytes,
           ncclGin_None{}, ncclGin_None{}, Coop{});
}

template <class Coop>
__device__ void put_signal_bytes(const ncclDevComm& comm, int context,
                                 ncclGinResourceSharingMode mode, At dst, At src, size_t bytes,
                                 At signal, uint64_t value, int pe) {
  Gin(comm, context, mode)
      .put(ncclTeamWorld(comm), pe, dst.window, dst.offset, src.window, src.offset, bytes,
           ncclGin_StrongVASignalAdd{signal.window, signal.offset, value}, ncclGin_None{}, Coop{});
}

}  // namespace

// `mode` is known to the compiler, as in programs that use the API. `bytes` comes first:
// rules/nccl_gin.toml sets its value.
#define KERNELS_OF_MODE(NAME, MODE)                                                                \
  extern "C" __global__ void p_##NAME(ncclDevComm comm, int context, At dst, uint64_t value,       \
                                      int pe) {                                                    \
    Gin(comm, context, MODE).putValue(ncclTeamWorld(comm), pe, dst.window, dst.offset, value);     \
  }                                                                                                \
  extern "C" __global__ void put_64_##NAME(ncclDevComm comm, int context, At dst, At src,          \
                                           int pe) {                                               \
    put_bytes<ncclCoopThread>(comm, context, MODE, dst, src, 64, pe);                              \
  }                                                                                                \
  extern "C" __global__ void put_64_block_##NAME(ncclDevComm comm, int context, At dst, At src,    \
                                                 int pe) {                                         \
    put_bytes<ncclCoopCta>(comm, context, MODE, dst, src, 64, pe);                                 \
  }                                                                                                \
  extern "C" __global__ void put_##NAME(size_t bytes, ncclDevComm comm, int context, At dst,       \
                                        At src, int pe) {                                          \
    put_bytes<ncclCoopThread>(comm, context, MODE, dst, src, bytes, pe);                           \
  }                                                                                                \
  extern "C" __global__ void put_block_##NAME(size_t bytes, ncclDevComm comm, int context, At dst, \
                                              At src, int pe) {                                    \
    put_bytes<ncclCoopCta>(comm, context, MODE, dst, src, bytes, pe);                              \
  }                                                                                                \
  extern "C" __global__ void put_signal_add_##NAME(size_t bytes, ncclDevComm comm, int context,    \
                                                   At dst, At src, At signal, uint64_t value,      \
                                                   int pe) {                                       \
    put_signal_bytes<ncclCoopThread>(comm, context, MODE, dst, src, bytes, signal, value, pe);     \
  }                                                                                                \
  extern "C" __global__ void put_signal_add_block_##NAME(size_t bytes, ncclDevComm comm,           \
                                                         int context, At dst, At src, At signal,   \
                                                         uint64_t value, int pe) {                 \
    put_signal_bytes<ncclCoopCta>(comm, context, MODE, dst, src, bytes, signal, value, pe);        \
  }                                                                                                \
  extern "C" __global__ void quiet_##NAME(ncclDevComm comm, int context) {                         \
    Gin(comm, context, MODE).flush(ncclCoopThread{});                                              \
  }

KERNELS_OF_MODE(exclusive, NCCL_GIN_RESOURCE_SHARING_THREAD)
KERNELS_OF_MODE(block, NCCL_GIN_RESOURCE_SHARING_CTA)
KERNELS_OF_MODE(gpu, NCCL_GIN_RESOURCE_SHARING_GPU)
#undef KERNELS_OF_MODE
