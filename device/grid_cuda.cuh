// The barrier of a cooperative grid on a GPU. It ends when a thread of the kernel has failed,
// because that thread's block may never come. Included by exec/exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_GRID_CUDA_CUH_
#define CHIME_DEVICE_GRID_CUDA_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/exec/ptx.cuh"
#include "chime/device/state_cuda.cuh"

namespace chime::exec {

namespace detail {

// Far more polls than a barrier needs that makes progress: a look is a load from host memory.
inline constexpr unsigned kGridPollsPerLook = 1024;

// Whether this PE has an error that no host call has reported, after which CHIME_ON_ERROR ends
// threads. Reads only whether the record is claimed, and nothing else of it: needs no order.
CHIME_DEVICE bool pe_has_failed() {
  const Context* const ctx = launch_context();
  if (ctx->abi_version == 0 || ctx->pe.on_error != OnError::kExit) return false;
  return ld<Order::kRelaxed, Scope::kSystem>(&ctx->pe.error->claimed) != 0;
}

// The top bit of the grid's barrier word flips when all blocks have arrived: every block adds 1,
// and block 0 adds the rest of 2^31. Release and acquire carry the blocks' stores and, with the
// barriers around them (cumulativity), those of all threads. False: the wait was given up.
CHIME_DEVICE bool meet_blocks(std::uint32_t* word) {
  constexpr std::uint32_t kTurn = 0x80000000u;
  const std::uint32_t share = block_rank() == 0 ? kTurn - (grid_blocks() - 1) : 1;
  const std::uint32_t before = atomic_add<Order::kRelease, Scope::kDevice>(word, share);
  for (unsigned polls = 1; ((ld<Order::kAcquire, Scope::kDevice>(word) ^ before) & kTurn) == 0;
       ++polls) {
    if (polls % kGridPollsPerLook == 0 && pe_has_failed()) return false;
  }
  return true;
}

}  // namespace detail

// Does what cooperative_groups::this_grid().sync() does, without its header, which takes nvcc 2 s.
//
// The first thread of a block meets the others. If it gave up, or has ended, the block ends: its
// other threads would go on without a barrier.
CHIME_DEVICE void sync_grid() {
  ptx::GridWorkspace* const workspace = ptx::grid_workspace();
  if (workspace == nullptr)
    trap("chime: sync_grid in a kernel that was not launched cooperatively");
  sync_block();
  const bool met = thread_rank() == 0 && detail::meet_blocks(&workspace->barrier);
  if (!sync_block_or(met)) end_thread();
}

}  // namespace chime::exec

#endif  // CHIME_DEVICE_GRID_CUDA_CUH_
