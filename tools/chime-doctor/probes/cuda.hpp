// The CUDA driver's answers about GPUDirect.
#pragma once

#include "tools/chime-doctor/probes/probes.hpp"

namespace chime::doctor {

// Loads libcuda.so.1 and makes no context, so that no GPU's memory is taken.
CudaAnswers ask_cuda();

}  // namespace chime::doctor
