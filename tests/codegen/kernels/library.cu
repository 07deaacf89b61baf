// The kernels that libchime itself launches: they release and acquire stream-ordered operations at
// system scope. Their waits load the abort word (the 32-bit acquire).
#include "host/ops/library_kernels.cu"

// PTX chime_library_signal: 1 fence.acq_rel.sys, 1 st.release.sys.global.u64
// PTX chime_library_signal: 1 red.release.sys.global.add.u64
// PTX chime_library_signal_wait: 1+ ld.acquire.sys.global.u64, 1 ld.acquire.sys.global.u32, 0 fence
// PTX chime_library_signal_wait: 0 membar
// PTX chime_library_wait: 1+ ld.acquire.sys.global.u64, 1+ ld.acquire.sys.global.u32, 0 membar
// PTX chime_library_wait: 1+ ld.acquire.sys.global.u16
// Its rounds are out-of-line functions: barrier_round in sync.cu tests one.
// PTX chime_library_sync: 1+ fence.acq_rel.sys
// PTX chime_library_amo: 1+ atom.relaxed.sys.global.cas.b32, 1+ atom.relaxed.sys.global.cas.b64
// PTX chime_library_amo: 1+ fence.acq_rel.sys
// Their data has arrived when they end.
// PTX chime_library_move: 1+ fence.acq_rel.sys
// PTX chime_library_strided: 1+ fence.acq_rel.sys
// PTX chime_library_element: 1+ fence.acq_rel.sys
// PTX chime_library_signal_op: 1+ fence.acq_rel.sys
// Its updates are atomic with those of this PE's kernels: one fence before all, one after all.
// PTX chime_library_update: 2 fence.acq_rel.sys, 1+ atom.relaxed.sys.global.cas.b32
// PTX chime_library_update: 1+ atom.relaxed.sys.global.cas.b64, 0 atom.relaxed.gpu, 0 red
// PTX chime_library_update_by_nic: 2+ fence.acq_rel.sys, 0 atom.relaxed.sys.global.cas
