#include "chime/device/simt/host_calls.hpp"

#include <mutex>

#include "chime/device/simt/immortal.hpp"

namespace chime::simt {

thread_local constinit HostCall::Here HostCall::here_ = {};

// The threads that have called anything. A thread that ends takes itself off.
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

std::vector<const char*> host_calls() {
  const TsanIgnores ignores;
  const std::lock_guard lock(immortal<HostCall::List>().mutex);
  std::vector<const char*> names;
  for (const HostCall::Here* thread : immortal<HostCall::List>().threads)
    if (const char* name = thread->name.load(std::memory_order_relaxed)) names.push_back(name);
  return names;
}

}  // namespace chime::simt
