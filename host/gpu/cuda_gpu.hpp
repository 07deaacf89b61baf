// The GPU device, through the CUDA driver that this machine has (libcuda.so.1, opened at run time).
// In a build without the CUDA toolkit these exist too, and say so (cuda_absent.cpp).
#pragma once

#include <memory>
#include <string>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// The device of the calling thread's CUDA context if it has one; else CUDA device `preferred`
// modulo the number of devices. Its primary context is made current. Throws Error with the driver's
// words.
std::unique_ptr<Gpu> make_cuda_gpu(int preferred);

// Whether the calling thread has a current CUDA context.
bool thread_has_cuda_device();

// Why make_cuda_gpu could not find a device here, in the driver's words; empty if it can.
std::string why_no_cuda();

}  // namespace chime::host
