#include "operations_counter.hpp"

#include <atomic>
#include <mutex>

namespace chime::tests {
namespace {
std::mutex mutex;
OperationWatcher current;
std::atomic<bool> is_watched{false};
}  // namespace

WatchOperations::WatchOperations(OperationWatcher watcher) {
  current = std::move(watcher);
  is_watched = true;
}
WatchOperations::~WatchOperations() { is_watched = false; }

}  // namespace chime::tests

void chime::simt::operation_hook(Operation operation, const void* address, std::size_t bytes) {
  using namespace chime::tests;
  if (!is_watched.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex);
  current(operation, address, bytes);
}
