// How kernels look up allocations while the host changes them: they load the table's generation,
// then the table, then, after a fence, the generation again.
#include "chime/device/bounds.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void look(const abi::Allocations* all, uint64_t offset, size_t bytes,
                                  bool* found) {
  *found = detail::lies_in_one_allocation(*all, offset, bytes);
}
// PTX look: 1 ld.acquire.sys.global.u64, 1 fence.ac, 4+ ld.relaxed.sys.global.u64
// ORDER look: ld.acquire.sys.global.u64, ld.relaxed.sys.global.u64, fence.ac, st.global
// NEVER look: ld.acquire.sys.global.u64, st.global, fence.ac
