#include "chime/device/simt/launch/unfinished_work.hpp"

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>

#include "chime/device/simt/faults/immortal.hpp"

namespace chime::simt {
namespace {

struct UnfinishedWork {
  std::mutex mutex;
  std::condition_variable ended;
  std::map<int, std::size_t> pieces;  // by PE
};

UnfinishedWork& unfinished_work() { return immortal<UnfinishedWork>(); }

}  // namespace

void work_is_queued(int pe) {
  UnfinishedWork& work = unfinished_work();
  const std::lock_guard lock(work.mutex);
  ++work.pieces[pe];
}

void work_has_ended(int pe) {
  UnfinishedWork& work = unfinished_work();
  const std::lock_guard lock(work.mutex);
  if (--work.pieces[pe] == 0) work.ended.notify_all();
}

std::size_t unfinished_work_of(int pe) {
  UnfinishedWork& work = unfinished_work();
  const std::lock_guard lock(work.mutex);
  return work.pieces[pe];
}

bool wait_for_work_of(int pe, std::chrono::steady_clock::time_point deadline) {
  UnfinishedWork& work = unfinished_work();
  std::unique_lock lock(work.mutex);
  return work.ended.wait_until(lock, deadline, [&] { return work.pieces[pe] == 0; });
}

}  // namespace chime::simt
