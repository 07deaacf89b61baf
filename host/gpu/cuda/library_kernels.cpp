#include "host/gpu/cuda/library_kernels.hpp"

// library_kernels.S
extern "C" const unsigned char chime_library_kernels[];

namespace chime::host::cuda {

LibraryKernels::LibraryKernels(CUcontext context) : context_(context) {
  const CurrentContext current(context_);
  driver().check(driver().cuModuleLoadData(&module_, chime_library_kernels), "cuModuleLoadData",
                 "this libchime has code for sm_80 and newer GPUs");
  for (int i = 0; i < kLibraryKernels; ++i) {
    driver().check(driver().cuModuleGetFunction(&functions_[i], module_, kLibraryKernelNames[i]),
                   "cuModuleGetFunction");
    // Asking for an attribute makes a driver that loads lazily load it.
    int registers = 0;
    driver().check(
        driver().cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, functions_[i]),
        "cuFuncGetAttribute");
  }
}

LibraryKernels::~LibraryKernels() {
  const CurrentContext current(context_);
  driver().cuModuleUnload(module_);
}

}  // namespace chime::host::cuda
