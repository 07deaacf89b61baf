// Opens the device that a PE runs its kernels on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/gpu/gpu.hpp"

namespace chime::host {

enum class DeviceChoice { kAuto, kCpu, kCuda };

// The device that `choice` names: kAuto is a GPU if the driver finds one, else the CPU. Throws
// Error when a GPU is demanded and there is none. `preferred`: see make_cuda_gpu.
std::unique_ptr<Gpu> open_gpu(DeviceChoice choice, int preferred);

// Whether open_gpu would find one device alone: the CPU, or the GPU that the calling thread has
// chosen (cudaSetDevice). Also true where no GPU can be had: waiting for a choice would not help.
bool is_chosen(DeviceChoice choice);

// The CPU device: kernels run in the SIMT executor. simt_gpu.cpp.
std::unique_ptr<Gpu> open_simt_gpu();

// One line for each kind of device: what open_gpu could choose, or why not. For chime-info.
std::vector<std::string> describe_devices();

}  // namespace chime::host
