// Bulk copies (exec_async.hpp): kept until somebody waits for them.
#include "chime/device/simt/bulk_copy.hpp"

#include <cstring>

#include "chime/device/simt/block.hpp"
#include "chime/device/simt/exec_async.hpp"
#include "chime/device/simt/report.hpp"

namespace chime::simt {

namespace {

BulkCopies& copies() { return block_of(running_thread()).bulk_copies(); }

void check_alignment(const void* a, const void* b, unsigned bytes) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) | bytes;
  if (bits % 16) {
    kernel_fault(running_thread(),
                 "a bulk copy of %u bytes from %p to %p: all must be multiples of 16", bytes, b, a);
  }
}

}  // namespace

void BulkCopies::perform(std::vector<BulkCopy>& list) {
  for (const BulkCopy& copy : list) std::memcpy(copy.dst, copy.src, copy.bytes);
  list.clear();
}

void mbarrier_init(exec::Mbarrier* barrier, unsigned arrivals) {
  const TsanIgnores ignores;
  *barrier = {arrivals, 0, 0, 0};
  copies().by_barrier[barrier] = {};
}

void mbarrier_expect_tx(exec::Mbarrier* barrier, unsigned bytes) {
  const TsanIgnores ignores;
  PendingPhase& phase = copies().by_barrier[barrier];
  phase.expected_bytes += bytes;
  ++barrier->arrived;
}

// The phase is complete once all arrivals came and as many bytes were started as announced; waiting
// makes them land.
bool mbarrier_try_wait(exec::Mbarrier* barrier, unsigned parity) {
  yield();
  const TsanIgnores ignores;
  PendingPhase& phase = copies().by_barrier[barrier];
  if (barrier->arrived == barrier->expected && phase.started_bytes == phase.expected_bytes) {
    BulkCopies::perform(phase.copies);
    phase = {};
    barrier->arrived = 0;
    ++barrier->phase;
  }
  return (barrier->phase & 1) != (parity & 1);
}

void bulk_to_shared(void* shared, const void* global, unsigned bytes, exec::Mbarrier* barrier) {
  check_alignment(shared, global, bytes);
  const TsanIgnores ignores;
  PendingPhase& phase = copies().by_barrier[barrier];
  phase.copies.push_back({shared, global, bytes});
  phase.started_bytes += bytes;
}

void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  check_alignment(global, shared, bytes);
  const TsanIgnores ignores;
  copies().by_thread[running_thread().rank].open.push_back({global, shared, bytes});
}

void bulk_commit() {
  const TsanIgnores ignores;
  ThreadCopies& own = copies().by_thread[running_thread().rank];
  own.committed.insert(own.committed.end(), own.open.begin(), own.open.end());
  own.open.clear();
}

void bulk_wait_all() { BulkCopies::perform(copies().by_thread[running_thread().rank].committed); }

}  // namespace chime::simt
