// Groups of threads as values, by the names that CUDA's documentation publishes: the block, the
// grid of a cooperative launch, and tiles of a warp. It has no scans, reductions and copies of
// groups.
#pragma once

#include <type_traits>

#include "cuda_runtime.h"

namespace cooperative_groups {

#define SOFTGPU_GROUP __device__ __forceinline__

class thread_block {
 public:
  SOFTGPU_GROUP static void sync() { __syncthreads(); }
  SOFTGPU_GROUP static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  SOFTGPU_GROUP static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  SOFTGPU_GROUP static unsigned size() { return num_threads(); }
  SOFTGPU_GROUP static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  SOFTGPU_GROUP static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  SOFTGPU_GROUP static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  SOFTGPU_GROUP static dim3 dim_threads() { return group_dim(); }
};
SOFTGPU_GROUP thread_block this_thread_block() { return {}; }

// The top bit of the launch's word flips when all blocks have come: each adds 1, and the first adds
// the rest. A launch that is not cooperative has no word.
class grid_group {
 public:
  SOFTGPU_GROUP static bool is_valid() { return word() != nullptr; }
  SOFTGPU_GROUP static void sync() {
    if (!is_valid()) {
      printf("cooperative_groups: sync of a grid that was not launched cooperatively\n");
      __trap();
    }
    __syncthreads();
    if (thread_block::thread_rank() == 0) meet_blocks(word());
    __syncthreads();
  }
  SOFTGPU_GROUP static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  SOFTGPU_GROUP static unsigned long long block_rank() {
    return blockIdx.x +
           static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  SOFTGPU_GROUP static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  SOFTGPU_GROUP static unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  SOFTGPU_GROUP static unsigned long long size() { return num_threads(); }
  SOFTGPU_GROUP static dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  SOFTGPU_GROUP static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
  SOFTGPU_GROUP static dim3 dim_blocks() { return group_dim(); }

 private:
  // The launch's workspace: its size, and the word.
  SOFTGPU_GROUP static unsigned* word() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    auto* const workspace =
        reinterpret_cast<unsigned*>(static_cast<unsigned long long>(high) << 32 | low);
    return workspace ? workspace + 1 : nullptr;
  }
  SOFTGPU_GROUP static void meet_blocks(unsigned* word) {
    constexpr unsigned kTurn = 0x80000000u;
    const unsigned share =
        block_rank() == 0 ? kTurn - (static_cast<unsigned>(num_blocks()) - 1) : 1;
    __threadfence();
    const unsigned before = atomicAdd(word, share);
    while (((*static_cast<volatile unsigned*>(word) ^ before) & kTurn) == 0) {
    }
    __threadfence();
  }
};
SOFTGPU_GROUP grid_group this_grid() { return {}; }

// `Size` neighbours of a warp: a power of two up to 32. All its threads make each call. A tile with
// a parent converts to one without, because programs keep it as such.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size != 0 && Size <= 32 && (Size & (Size - 1)) == 0);

 public:
  // The tile of this thread, among those of `parent`.
  template <class Group>
  SOFTGPU_GROUP static thread_block_tile of(const Group& parent) {
    return {parent.thread_rank() / Size, (parent.num_threads() + Size - 1) / Size};
  }
  SOFTGPU_GROUP operator thread_block_tile<Size>() const requires(!std::is_void_v<Parent>) {
    return {meta_group_rank(), meta_group_size()};
  }
  SOFTGPU_GROUP static void sync() { __syncwarp(mask()); }
  SOFTGPU_GROUP static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  SOFTGPU_GROUP static constexpr unsigned num_threads() { return Size; }
  SOFTGPU_GROUP static constexpr unsigned size() { return Size; }
  SOFTGPU_GROUP unsigned meta_group_rank() const { return rank_in_parent_; }
  SOFTGPU_GROUP unsigned meta_group_size() const { return tiles_of_parent_; }
  template <class T>
  SOFTGPU_GROUP static T shfl(T value, int rank) {
    return __shfl_sync(mask(), value, rank, Size);
  }
  template <class T>
  SOFTGPU_GROUP static T shfl_up(T value, unsigned by) {
    return __shfl_up_sync(mask(), value, by, Size);
  }
  template <class T>
  SOFTGPU_GROUP static T shfl_down(T value, unsigned by) {
    return __shfl_down_sync(mask(), value, by, Size);
  }
  template <class T>
  SOFTGPU_GROUP static T shfl_xor(T value, unsigned by) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(by), Size);
  }
  SOFTGPU_GROUP static bool any(bool p) { return __any_sync(mask(), p) != 0; }
  SOFTGPU_GROUP static bool all(bool p) { return __all_sync(mask(), p) != 0; }
  SOFTGPU_GROUP static unsigned ballot(bool p) {
    return (__ballot_sync(mask(), p) & mask()) >> first_lane();
  }

 private:
  template <unsigned, class>
  friend class thread_block_tile;
  SOFTGPU_GROUP thread_block_tile(unsigned rank_in_parent, unsigned tiles_of_parent)
      : rank_in_parent_(rank_in_parent), tiles_of_parent_(tiles_of_parent) {}
  SOFTGPU_GROUP static unsigned first_lane() {
    return thread_block::thread_rank() % 32 / Size * Size;
  }
  SOFTGPU_GROUP static unsigned mask() {
    return (Size == 32 ? ~0u : (1u << Size) - 1) << first_lane();
  }

  unsigned rank_in_parent_, tiles_of_parent_;
};

template <unsigned Size, class Parent>
SOFTGPU_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>::of(parent);
}

template <class Group>
SOFTGPU_GROUP void sync(const Group& group) {
  group.sync();
}

#undef SOFTGPU_GROUP

}  // namespace cooperative_groups
