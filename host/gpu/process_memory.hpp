// Memory that PEs of this process share with each other: a local peer that is a thread of this
// process is not mapped a second time. Both use the one mapping, so that tools (TSan) and humans
// see one address for one word.
#pragma once

#include <cstdint>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// From any thread.
void offer_in_process(const std::shared_ptr<DeviceMemory>& memory);

// The memory that begins at `address`; null if it is gone.
std::shared_ptr<DeviceMemory> find_in_process(std::uint64_t address);

}  // namespace chime::host
