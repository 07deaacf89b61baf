// Counts the memory operations of the calling OS thread's device code, by what they reach.
#pragma once

#include <functional>

#include "chime/device/simt/memory/operation_hook.hpp"

namespace chime::tests {

using OperationWatcher =
    std::function<void(simt::Operation, const void* address, std::size_t bytes)>;

// Calls `watcher` for each operation of this OS thread's device code while it lives.
class WatchOperations {
 public:
  explicit WatchOperations(OperationWatcher watcher);
  ~WatchOperations();
};

}  // namespace chime::tests
