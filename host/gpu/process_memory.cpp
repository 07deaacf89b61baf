#include "host/gpu/process_memory.hpp"

#include <map>
#include <mutex>

namespace chime::host {
namespace {

// Never destroyed: PEs may end after static destructors.
struct Offered {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<DeviceMemory>> all;  // by address
};

Offered& offered() {
  static auto* const the_offered = new Offered;
  return *the_offered;
}

}  // namespace

void offer_in_process(const std::shared_ptr<DeviceMemory>& memory) {
  const std::lock_guard lock(offered().mutex);
  std::erase_if(offered().all, [](const auto& entry) { return entry.second.expired(); });
  offered().all[reinterpret_cast<std::uint64_t>(memory->address())] = memory;
}

std::shared_ptr<DeviceMemory> find_in_process(std::uint64_t address) {
  const std::lock_guard lock(offered().mutex);
  const auto found = offered().all.find(address);
  return found == offered().all.end() ? nullptr : found->second.lock();
}

}  // namespace chime::host
