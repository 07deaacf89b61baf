// Special registers: what a kernel may read about itself, its launch and its machine.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

SpecialRegister special_register(std::string_view name) {
  static const auto& all = *new std::unordered_map<std::string_view, SpecialRegister>{
      {"%tid.x", {"u32", "e.thread->thread_idx.x"}},
      {"%tid.y", {"u32", "e.thread->thread_idx.y"}},
      {"%tid.z", {"u32", "e.thread->thread_idx.z"}},
      {"%ntid.x", {"u32", "e.thread->block->block_dim.x"}},
      {"%ntid.y", {"u32", "e.thread->block->block_dim.y"}},
      {"%ntid.z", {"u32", "e.thread->block->block_dim.z"}},
      {"%ctaid.x", {"u32", "e.thread->block->block_idx.x"}},
      {"%ctaid.y", {"u32", "e.thread->block->block_idx.y"}},
      {"%ctaid.z", {"u32", "e.thread->block->block_idx.z"}},
      {"%nctaid.x", {"u32", "e.thread->block->grid_dim.x"}},
      {"%nctaid.y", {"u32", "e.thread->block->grid_dim.y"}},
      {"%nctaid.z", {"u32", "e.thread->block->grid_dim.z"}},
      {"%laneid", {"u32", "e.thread->lane"}},
      {"%warpid", {"u32", "e.thread->warp"}},
      {"%nwarpid", {"u32", "((e.thread->block->threads + 31) / 32)"}},
      {"%smid", {"u32", "u32(0)"}},
      {"%nsmid", {"u32", "u32(1)"}},
      {"%gridid", {"u64", "u64(0)"}},
      {"%lanemask_eq", {"u32", "(u32(1) << e.thread->lane)"}},
      {"%lanemask_lt", {"u32", "((u32(1) << e.thread->lane) - 1)"}},
      {"%lanemask_le", {"u32", "(u32(2) << e.thread->lane) - 1"}},
      {"%lanemask_gt", {"u32", "~((u32(2) << e.thread->lane) - 1)"}},
      {"%lanemask_ge", {"u32", "~((u32(1) << e.thread->lane) - 1)"}},
      {"%clock", {"u32", "u32(exec::clock())"}},
      {"%clock_hi", {"u32", "u32(exec::clock() >> 32)"}},
      {"%clock64", {"u64", "exec::clock()"}},
      {"%globaltimer", {"u64", "exec::clock_ns()"}},
      {"%globaltimer_lo", {"u32", "u32(exec::clock_ns())"}},
      {"%globaltimer_hi", {"u32", "u32(exec::clock_ns() >> 32)"}},
      {"%envreg1", {"u32", "u32(e.grid_workspace >> 32)"}},
      {"%envreg2", {"u32", "u32(e.grid_workspace)"}},
      {"%dynamic_smem_size", {"u32", "e.dynamic_shared_bytes"}},
      {"%total_smem_size", {"u32", "e.shared_bytes"}},
  };
  const auto found = all.find(name);
  return found == all.end() ? SpecialRegister{} : found->second;
}

}  // namespace softgpu::ptx
