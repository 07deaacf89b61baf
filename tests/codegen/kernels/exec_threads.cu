// Rendezvous, warp operations and bulk copies of exec.
#include "chime/device/exec/exec.cuh"

using namespace chime;
using namespace chime::exec;

extern "C" CHIME_KERNEL void block_barriers(int* p) {
  sync_block();
  sync_named(3, 64);
  p[0] = sync_block_count(p[1] > 0);
  p[2] = sync_block_or(p[3] > 0);
  p[4] = sync_named_or(4, 64, p[5] > 0);
}
// PTX block_barriers: 1 bar.sync, 1 barrier.sync, 1 bar.red.popc, 1 bar.red.or, 1 barrier.red.or

// One thread of each block releases and acquires the driver's own word, and seldom loads the error
// record.
extern "C" CHIME_KERNEL void grid_barrier() { sync_grid(); }
// PTX grid_barrier: 1 atom.release.gpu.global.add.u32, 1+ ld.acquire.gpu.global.u32
// PTX grid_barrier: 1 ld.relaxed.sys.global.u32
// PTX grid_barrier: 1 bar.sync, 1 bar.red.or, 0 membar, 0 fence

struct Three {
  float x, y, z;
};
extern "C" CHIME_KERNEL void shuffles(Three* p, double* q) {
  p[1] = shfl(~0u, p[0], 3);
  q[1] = shfl_xor(~0u, q[0], 1);
}
// PTX shuffles: 3 shfl.sync.idx.b32, 2 shfl.sync.bfly.b32

extern "C" CHIME_KERNEL void votes(unsigned* p) {
  p[0] = ballot(~0u, p[1] != 0);
  p[2] = match_any(~0u, p[3]);
  p[4] = reduce_add(~0u, p[5]);
  p[6] = elect_one(active_mask());
}
// PTX votes: 1 vote.sync.ballot.b32, 1 match.any.sync.b32, 1 redux.sync.add, 1 activemask.b32

extern "C" CHIME_KERNEL void bulk(float* p) {
  CHIME_SHARED_VAR(Mbarrier, arrived);
  CHIME_DYNAMIC_SHARED(float, tile);
  if (thread_rank() == 0) mbarrier_init(&arrived, 1);
  sync_block();
  if (thread_rank() == 0) {
    mbarrier_expect_tx(&arrived, 256);
    bulk_to_shared(tile, p, 256, &arrived);
  }
  while (!mbarrier_try_wait(&arrived, 0)) pause();
  sync_block();
  if (thread_rank() == 0) {
    bulk_from_shared(p + 64, tile, 256);
    bulk_commit();
    bulk_wait_all();
  }
}
// PTX[80] bulk: 0 cp.async.bulk
// PTX[90] bulk: 1 mbarrier.init, 1 mbarrier.arrive.expect_tx, 1 mbarrier.try_wait.parity.acquire
// PTX[90] bulk: 1 cp.async.bulk.shared, 1 cp.async.bulk.global, 1 cp.async.bulk.commit_group
// PTX[90] bulk: 1 cp.async.bulk.wait_group, 2 fence.proxy.async
