#include "softgpu/driver/loading.hpp"

#include <cstdlib>
#include <string_view>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/context.hpp"

namespace softgpu::driver {

CUmoduleLoadingMode loading_mode() {
  static const CUmoduleLoadingMode mode = [] {
    const char* const value = std::getenv("CUDA_MODULE_LOADING");
    return value && std::string_view(value) == "LAZY" ? CU_MODULE_LAZY_LOADING
                                                      : CU_MODULE_EAGER_LOADING;
  }();
  return mode;
}

bool is_loaded(const Function& function) {
  return loading_mode() == CU_MODULE_EAGER_LOADING || function.is_loaded;
}

void load(Function& function) {
  if (is_loaded(function)) return;
  function.context.synchronize();
  function.is_loaded = true;
}

}  // namespace softgpu::driver

using namespace softgpu::driver;

SOFTGPU_API cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return answer_initialised([&] { required(mode) = loading_mode(); });
}

SOFTGPU_API cuFuncLoad(CUfunction function) {
  return answer_in_context([&](Context&) { load(*function_of(function)); });
}

SOFTGPU_API cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return answer_in_context([&](Context&) {
    required(state) = is_loaded(*function_of(function)) ? CU_FUNCTION_LOADING_STATE_LOADED
                                                        : CU_FUNCTION_LOADING_STATE_UNLOADED;
  });
}
