// The second half of set-up, which takes a device: heap, mapped peers, NIC, and what kernels see of
// them.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"
#include "host/pe/runtime.hpp"

namespace chime::host {

// The calling thread's GPU is the one of this number at the driver; of no meaning on the CPU
// device.
void choose_device(const Settings& settings, int cuda_device);

// Whether nothing is left to choose: there is one CPU device, the thread has chosen its GPU, or
// there is none to be had. Throws Error if CHIME_DEVICE asks for what cannot be.
bool device_is_chosen(const Settings& settings);

// Collective over the job's PEs, in the same order of steps on each. Throws Error, which says the
// step; then the PEs cannot be brought back to the same point.
std::unique_ptr<DeviceStage> build_device_stage(const Settings& settings,
                                                bootstrap::Bootstrap& bootstrap);

// The context with which kernels, or host operations, see a PE whose device stage stands. Throws
// Error where CHIME_AMO asks for something that the job does not have.
Context make_context(Runtime& runtime, ContextOwner owner);

}  // namespace chime::host
