// The GPU device, through the CUDA driver that this machine has (libcuda.so.1, opened at run time).
// In a build without the CUDA toolkit these exist too, and say so (cuda_absent.cpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// Opens CUDA device `device`, whose primary context is made the calling thread's if it has none.
// Throws Error with the driver's words. `why`: it was chosen, for describe().
std::unique_ptr<Gpu> make_cuda_gpu(int device, const std::string& why = {});

// PCI addresses of the devices that the driver shows, as sysfs writes them. Throws as above.
std::vector<std::string> cuda_devices();

// The device of the calling thread's CUDA context: what the program has chosen by cudaSetDevice.
std::optional<int> chosen_cuda_device();

// As cudaSetDevice(device): the device's primary context becomes the calling thread's. Throws Error
// if the driver shows no such device.
void choose_cuda_device(int device);

// Why there is no device here, in the driver's words; empty if there is one.
std::string why_no_cuda();

// Whether this library could use one.
bool is_built_with_cuda();

}  // namespace chime::host
