// The kernels that libchime itself launches: what is stream-ordered is released and acquired at
// system scope, and waits look at the abort word (the 32-bit acquire).
#include "host/ops/library_kernels.cu"

// PTX chime_library_signal: 1 fence.acq_rel.sys, 1 st.release.sys.global.u64
// PTX chime_library_signal: 1 red.release.sys.global.add.u64
// PTX chime_library_signal_wait: 1+ ld.acquire.sys.global.u64, 1 ld.acquire.sys.global.u32, 0 fence
// PTX chime_library_signal_wait: 0 membar
// PTX chime_library_wait: 1+ ld.acquire.sys.global.u64, 1+ ld.acquire.sys.global.u32, 0 membar
// PTX chime_library_wait: 1+ ld.acquire.sys.global.u16
// Its rounds are functions of their own: barrier_round in sync.cu looks at them.
// PTX chime_library_sync: 1+ fence.acq_rel.sys
// PTX chime_library_amo: 1+ atom.relaxed.sys.global.cas.b32, 1+ atom.relaxed.sys.global.cas.b64
// PTX chime_library_amo: 1+ fence.acq_rel.sys
// What they have sent is there when they end.
// PTX chime_library_move: 1+ fence.acq_rel.sys
// PTX chime_library_strided: 1+ fence.acq_rel.sys
// PTX chime_library_element: 1+ fence.acq_rel.sys
// PTX chime_library_signal_op: 1+ fence.acq_rel.sys
// Atomic with kernels of this PE, one fence before all of them and one behind.
// PTX chime_library_update: 2 fence.acq_rel.sys, 1+ atom.relaxed.sys.global.cas.b32
// PTX chime_library_update: 1+ atom.relaxed.sys.global.cas.b64, 0 atom.relaxed.gpu, 0 red
// PTX chime_library_update_by_nic: 2+ fence.acq_rel.sys, 0 atom.relaxed.sys.global.cas
