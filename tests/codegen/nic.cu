// The NIC path where room and turn are there: what is written and in which order it is fenced.
// Waits and failures are functions of their own; the calls that are left lead to them.
#include "chime/chime_device.cuh"

using namespace chime;

extern "C" CHIME_KERNEL void p_double(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                      double value, int pe) {
  nic::p(nic::Domain{ctx, *ctx.nic}, dst, value, pe);
}
// Once with and once without a GPU-wide fence: kNicAllOnGpu is asked at run time. Three segments.
// PTX p_double: 3 st.relaxed.sys.global.v2.u64, 1 st.mmio.relaxed.sys.global.u64
// PTX p_double: 1 st.relaxed.sys.global.u32
// PTX p_double: 2 fence.acq_rel.sys, 2 fence.acq_rel.gpu, 0 fence.sc, 0 membar
// PTX p_double: 1 atom.relaxed.gpu.global.add.u64, 1 atom.relaxed.cta.global.add.u64, 0 st.local
// PTX p_double: 0 bar.sync
// device/path/README.md, "Submit": requests; (a); the record; (c); the doorbell. The turn is passed
// on behind (b), and never before the doorbell (d).
// ORDER p_double: st.relaxed.sys.global.v2, fence, st.relaxed.sys.global.u32, fence, st.mmio
// ORDER p_double: fence, st.release
// NEVER p_double: st.release, st.mmio

extern "C" CHIME_KERNEL void put_block(const CHIME_GRID_CONSTANT Context ctx, double* dst,
                                       const double* src, size_t bytes, int pe) {
  nic::put<8>(nic::Domain{ctx, *ctx.nic}, Block{}, dst, src, bytes, pe, nic::Until::kPosted);
}
// A group has one poster: no shuffles, no barrier.
// PTX put_block: 0 shfl, 0 bar, 0 match, 0 activemask
// ORDER put_block: st.relaxed.sys.global.v2, fence, st.release
// ORDER put_block: fence, st.relaxed.sys.global.u32, fence, st.mmio
// NEVER put_block: st.release, st.mmio
