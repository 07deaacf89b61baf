// Collectives by multimem (device/coll/multimem.cuh). What stores to all and what combines have the
// instructions on sm_90, and proxy fences in their places: before the first and behind stores.
// ptxas refuses the instructions for an older GPU, so whole collectives compile for it without
// them.
#include "chime/chime.h"
#include "chime/device/coll/multimem.cuh"

extern "C" CHIME_KERNEL void copy_to_all(std::byte* dst, const std::byte* src, size_t bytes,
                                         uint64_t* arrival) {
  if constexpr (chime::exec::has_multimem())
    chime::detail::copy_to_all(chime::Thread{}, dst, src, bytes);
  chime::order::publish(arrival, uint64_t{1});
}
// PTX[80] copy_to_all: 0 multimem, 0 fence
// PTX[90] copy_to_all: 1+ multimem.st.relaxed.sys.global.b32, 1+ multimem.st.relaxed.sys.global.b64
// PTX[90] copy_to_all: 1+ multimem.st.relaxed.sys.global.v4.f32, 2 fence.proxy.alias
// PTX[90] copy_to_all: 0 st.relaxed, 0 multimem.red
// ORDER[90] copy_to_all: fence.proxy.alias, multimem.st
// ORDER[90] copy_to_all: fence.proxy.alias, fence.proxy.alias, st.release.sys
// NEVER[90] copy_to_all: fence.proxy.alias, fence.proxy.alias, multimem.st

extern "C" CHIME_KERNEL void combine_at_all(unsigned number, std::byte* dst, const std::byte* src,
                                            size_t bytes) {
  if constexpr (chime::exec::has_multimem())
    chime::detail::combine_block_at_all(chime::Thread{}, number, dst, src, bytes);
}
// PTX[80] combine_at_all: 0 multimem, 0 fence
// PTX[90] combine_at_all: 2 fence.proxy.alias, 0 st.relaxed, 0 ld.relaxed
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.add.u32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.add.u64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.min.s32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.min.u32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.min.s64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.min.u64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.max.s32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.max.u32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.max.s64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.max.u64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.and.b32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.and.b64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.or.b32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.or.b64
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.xor.b32
// PTX[90] combine_at_all: 1+ multimem.ld_reduce.relaxed.sys.global.xor.b64
// PTX[90] combine_at_all: 1+ multimem.st.relaxed.sys.global.b32
// PTX[90] combine_at_all: 1+ multimem.st.relaxed.sys.global.b64
// ORDER[90] combine_at_all: fence.proxy.alias, multimem.ld_reduce
// ORDER[90] combine_at_all: fence.proxy.alias, multimem.ld_reduce, multimem.st

extern "C" CHIME_KERNEL void reduce_thread(int* dst, const int* src, size_t n) {
  chime_int_sum_reduce(CHIME_TEAM_WORLD, dst, src, n);
}
// PTXAS[80] reduce_thread: registers <= 100, stack <= 184
// PTXAS[90] reduce_thread: registers <= 100, stack <= 184
