#include "chime/device/simt/launch/host_calls.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"

namespace chime::simt {
namespace {

// Makes the stores of every thread visible to the caller, and the caller's stores visible to every
// thread. This rare fence saves each call one of its own. Where the kernel has no membarrier, a
// call that begins within the same nanoseconds may be missed.
void meet_all_threads() {
  static const bool is_registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (is_registered) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

thread_local constinit HostCall::Here HostCall::here_ = {};

// The threads that have made a call. A thread that ends removes itself.
struct HostCall::List {
  std::mutex mutex;
  std::vector<const Here*> threads;
};

void HostCall::list() {
  class Listed {
   public:
    Listed() {
      const TsanIgnores ignores;
      const std::lock_guard lock(immortal<List>().mutex);
      immortal<List>().threads.push_back(&here_);
    }
    ~Listed() {
      const TsanIgnores ignores;
      const std::lock_guard lock(immortal<List>().mutex);
      std::erase(immortal<List>().threads, &here_);
    }
  };
  static thread_local Listed listed;
  static_cast<void>(&listed);
  here_.is_listed = true;
}

// The call on `of` that `thread` is in. Null: none, and its earlier calls on `of` happened before.
const char* HostCall::name_on(const void* of, const Here& thread) {
  while (thread.of.load(std::memory_order_acquire) == of)
    if (const char* name = thread.name.load(std::memory_order_relaxed)) return name;
  // Without a name the call has ended meanwhile: the next load of `of` decides.
  happens_after(&thread.of);  // this file is not instrumented: TSan did not see the acquire
  return nullptr;
}

std::vector<const char*> host_calls() {
  const TsanIgnores ignores;
  const std::lock_guard lock(immortal<HostCall::List>().mutex);
  std::vector<const char*> names;
  for (const HostCall::Here* thread : immortal<HostCall::List>().threads)
    if (const char* name = thread->name.load(std::memory_order_relaxed)) names.push_back(name);
  return names;
}

std::vector<const char*> host_calls_of(const void* of) {
  const std::lock_guard lock(immortal<HostCall::List>().mutex);
  const auto& threads = immortal<HostCall::List>().threads;
  if (threads.size() > 1) meet_all_threads();
  std::vector<const char*> names;
  for (const HostCall::Here* thread : threads)
    if (thread != &HostCall::here_)
      if (const char* name = HostCall::name_on(of, *thread)) names.push_back(name);
  return names;
}

}  // namespace chime::simt
