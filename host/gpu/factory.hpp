// Opens the device that a PE runs its kernels on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/gpu/gpu.hpp"

namespace chime::host {

enum class DeviceChoice { kAuto, kCpu, kCuda };

// Lets the PEs of a node exchange which GPUs each of them sees.
struct NodeTalk {
  struct Heard {
    std::vector<std::string> by_place;  // each PE's words, in their order
    std::size_t my_place = 0;
  };
  std::function<void(const std::string& mine)> tell;
  std::function<Heard()> hear;  // may wait for the other PEs
};

// The device that `choice` names: kAuto is a GPU if the driver finds one, else the CPU. The GPU is
// the one that the calling thread has chosen (cudaSetDevice); else as gpu_choice.hpp says, which
// takes that all PEs of the node call this. Throws Error when a GPU is demanded and there is none.
std::unique_ptr<Gpu> open_gpu(DeviceChoice choice, const NodeTalk& node);

// The calling thread chooses a GPU by its number at the driver; nothing where the choice is the
// CPU. Throws Error if there is no such one.
void choose_gpu(DeviceChoice choice, int cuda_device);

// Whether open_gpu would find one device alone: the CPU, or the GPU that the calling thread has
// chosen (cudaSetDevice). Also true where no GPU can be had: waiting for a choice would not help.
bool is_chosen(DeviceChoice choice);

// The CPU device: kernels run in the SIMT executor. simt_gpu.cpp.
std::unique_ptr<Gpu> open_simt_gpu();

// One line for each kind of device: what open_gpu would choose for a PE that runs here, alone on
// its node, or why not. For chime-info.
std::vector<std::string> describe_devices();

}  // namespace chime::host
