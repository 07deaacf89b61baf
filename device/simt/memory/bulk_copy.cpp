// Bulk copies (device/simt/exec/exec_async.hpp): kept until a thread waits for them.
#include "chime/device/simt/memory/bulk_copy.hpp"

#include <cstring>

#include "chime/device/simt/exec/exec_async.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/threads/block.hpp"

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

PendingPhase& phase_of(exec::Mbarrier* barrier, const char* what) {
  const auto found = copies().by_barrier.find(barrier);
  if (found != copies().by_barrier.end()) return found->second;
  kernel_fault(running_thread(), "it %s the mbarrier %p, which is not initialised", what,
               static_cast<void*>(barrier));
}

void complete(exec::Mbarrier* barrier, PendingPhase& phase) {
  BulkCopies::perform(phase.copies);
  phase = {};
  barrier->arrived = 0;
  ++barrier->phase;
}

}  // namespace

void BulkCopies::perform(std::vector<BulkCopy>& list) {
  for (const BulkCopy& copy : list) std::memcpy(copy.dst, copy.src, copy.bytes);
  list.clear();
}

void mbarrier_init(exec::Mbarrier* barrier, unsigned arrivals) {
  const TsanIgnores ignores;
  *barrier = {arrivals, 0, 0};
  copies().by_barrier[barrier] = {};
}

// The phase is complete once all arrivals came; if it has copies, the wait of a thread completes
// it.
unsigned mbarrier_arrive(exec::Mbarrier* barrier, unsigned arrivals, unsigned bytes) {
  const TsanIgnores ignores;
  PendingPhase& phase = phase_of(barrier, "arrives at");
  phase.expected_bytes += bytes;
  if (barrier->arrived + arrivals > barrier->expected) {
    kernel_fault(running_thread(), "%u arrivals at the mbarrier %p, which expects %u and had %u",
                 arrivals, static_cast<void*>(barrier), static_cast<unsigned>(barrier->expected),
                 static_cast<unsigned>(barrier->arrived));
  }
  const unsigned current = barrier->phase;
  barrier->arrived += arrivals;
  const bool waits_for_copies = phase.expected_bytes != 0 || phase.started_bytes != 0;
  if (barrier->arrived == barrier->expected && !waits_for_copies) complete(barrier, phase);
  return current;
}

// The phase is complete once all arrivals came and the started copies have the announced bytes.
// Then this wait carries them out.
bool mbarrier_try_wait(exec::Mbarrier* barrier, unsigned parity) {
  yield();
  const TsanIgnores ignores;
  PendingPhase& phase = phase_of(barrier, "waits for");
  if (barrier->arrived == barrier->expected && phase.started_bytes == phase.expected_bytes) {
    complete(barrier, phase);
  }
  return (barrier->phase & 1) != (parity & 1);
}

void bulk_to_shared(void* shared, const void* global, unsigned bytes, exec::Mbarrier* barrier) {
  check_alignment(shared, global, bytes);
  const TsanIgnores ignores;
  PendingPhase& phase = phase_of(barrier, "copies to");
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
  own.closed.push_back(std::move(own.open));
  own.open.clear();
}

void bulk_wait(unsigned pending) {
  const TsanIgnores ignores;
  std::deque<std::vector<BulkCopy>>& closed = copies().by_thread[running_thread().rank].closed;
  for (; closed.size() > pending; closed.pop_front()) BulkCopies::perform(closed.front());
}

}  // namespace chime::simt
