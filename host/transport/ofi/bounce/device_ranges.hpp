// Memory of this PE that may be its GPU's: the device copies for requests that name it. All other
// memory in requests, values and staging slots, is the host's.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

// From any thread.
class DeviceRanges {
 public:
  explicit DeviceRanges(std::span<const std::byte> heap) { add_range(heap); }

  bool holds(const std::byte* at) const {
    const std::lock_guard lock(mutex_);
    const auto next = ends_.upper_bound(at);
    return next != ends_.begin() && at < std::prev(next)->second;
  }

  // Until its owner lets go of this.
  std::unique_ptr<Registration> add(std::span<const std::byte> memory) {
    return std::make_unique<Range>(*this, memory);
  }

 private:
  class Range final : public Registration {
   public:
    Range(DeviceRanges& all, std::span<const std::byte> memory) : all_(all), begin_(memory.data()) {
      all_.add_range(memory);
    }
    ~Range() override {
      const std::lock_guard lock(all_.mutex_);
      all_.ends_.erase(begin_);
    }

   private:
    DeviceRanges& all_;
    const std::byte* const begin_;
  };

  void add_range(std::span<const std::byte> memory) {
    const std::lock_guard lock(mutex_);
    ends_[memory.data()] = memory.data() + memory.size();
  }

  mutable std::mutex mutex_;
  std::map<const std::byte*, const std::byte*> ends_;  // by their beginnings
};

}  // namespace chime::host::ofi
