// The library's kernels in the driver: host/ops/library.cu as nvcc compiled it, for every
// GPU of the build (a fat binary).
#pragma once

#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/library_kernel.hpp"

namespace chime::host::cuda {

class LibraryKernels {
 public:
  // Loads all of them at once: the driver may wait for running kernels when it loads one.
  explicit LibraryKernels(CUcontext context);
  LibraryKernels(const LibraryKernels&) = delete;
  LibraryKernels& operator=(const LibraryKernels&) = delete;
  ~LibraryKernels();

  CUfunction operator[](LibraryKernel kernel) const { return functions_[static_cast<int>(kernel)]; }

 private:
  CUcontext context_;
  CUmodule module_ = nullptr;
  CUfunction functions_[kLibraryKernels] = {};
};

}  // namespace chime::host::cuda
