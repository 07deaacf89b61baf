#include "host/gpu/cuda/late_loading.hpp"

#include <vector>

#include "host/errors/error.hpp"
#include "host/gpu/cuda/driver.hpp"

namespace chime::host::cuda {
namespace {

// A driver that does not say how it loads may load late.
bool kernels_load_late() {
  CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
  return driver().cuModuleGetLoadingMode(&mode) != CUDA_SUCCESS || mode == CU_MODULE_LAZY_LOADING;
}

void load_all_of(CUmodule module) {
  if (!driver().cuModuleGetFunctionCount || !driver().cuModuleEnumerateFunctions ||
      !driver().cuFuncLoad)
    throw Error("CUDA driver", CHIMEX_ERR_UNSUPPORTED,
                "this driver names no kernels of a module; one for CUDA 12.4 or newer does");
  unsigned count = 0;
  driver().check(driver().cuModuleGetFunctionCount(&count, module), "cuModuleGetFunctionCount");
  std::vector<CUfunction> kernels(count);
  driver().check(driver().cuModuleEnumerateFunctions(kernels.data(), count, module),
                 "cuModuleEnumerateFunctions");
  for (CUfunction kernel : kernels) driver().check(driver().cuFuncLoad(kernel), "cuFuncLoad");
}

}  // namespace

void load_kernels(const ProgramModule& module) {
  if (!kernels_load_late()) return;
  CUmodule found = static_cast<CUmodule>(module.handle);
  if (module.kind == ProgramModule::Kind::kLibrary)
    driver().check(driver().cuLibraryGetModule(&found, static_cast<CUlibrary>(module.handle)),
                   "cuLibraryGetModule");
  load_all_of(found);
}

void load_kernels_beside(CUfunction kernel) {
  if (!kernels_load_late()) return;
  CUmodule module = nullptr;
  driver().check(driver().cuFuncGetModule(&module, kernel), "cuFuncGetModule");
  load_all_of(module);
}

}  // namespace chime::host::cuda
