// The names of results, and their descriptions.
#include "softgpu/driver/calls/calls.hpp"

using namespace softgpu::driver;

SOFTGPU_API cuGetErrorName(CUresult result, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  switch (result) {
#define SOFTGPU_RESULT(driver, runtime, sentence) \
  case driver:                                    \
    *name = #driver;                              \
    return CUDA_SUCCESS;
    SOFTGPU_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
  }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

SOFTGPU_API cuGetErrorString(CUresult result, const char** words) {
  if (!words) return CUDA_ERROR_INVALID_VALUE;
  switch (result) {
#define SOFTGPU_RESULT(driver, runtime, sentence) \
  case driver:                                    \
    *words = sentence;                            \
    return CUDA_SUCCESS;
    SOFTGPU_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
  }
  *words = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
