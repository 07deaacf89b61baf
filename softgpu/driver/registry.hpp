// Handles of a program for objects. A handle is a number that is never used again, so that a call
// with the handle of a destroyed object fails.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace softgpu::driver {

// Beyond the streams' special handles, and not an address that a program could touch.
inline std::uint64_t next_handle() {
  static constinit std::atomic<std::uint64_t> last{0x1000};
  return last.fetch_add(0x10, std::memory_order_relaxed) + 0x10;
}

template <class T, class Handle>
class Registry {
 public:
  Handle add(std::shared_ptr<T> object) {
    const std::uint64_t number = next_handle();
    const std::lock_guard lock(mutex_);
    objects_.emplace(number, std::move(object));
    return std::bit_cast<Handle>(number);
  }

  // Null: no object has the handle, or it is destroyed.
  std::shared_ptr<T> find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(std::bit_cast<std::uint64_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  std::shared_ptr<T> remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(std::bit_cast<std::uint64_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  template <class Predicate>
  std::vector<std::shared_ptr<T>> remove_if(Predicate is_meant) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> removed;
    std::erase_if(objects_, [&](auto& entry) {
      if (!is_meant(*entry.second)) return false;
      removed.push_back(std::move(entry.second));
      return true;
    });
    return removed;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<T>> objects_;
};

}  // namespace softgpu::driver
