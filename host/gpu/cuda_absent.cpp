// The GPU device of a build without the CUDA toolkit.
#include "host/error.hpp"
#include "host/gpu/cuda_gpu.hpp"

namespace chime::host {

std::string why_no_cuda() {
  return "this libchime was built without CUDA; configure it with -DCHIME_CUDA=ON where the CUDA "
         "toolkit is installed";
}

bool thread_has_cuda_device() { return false; }

std::unique_ptr<Gpu> make_cuda_gpu(int) {
  throw Error("CUDA", CHIMEX_ERR_UNSUPPORTED, why_no_cuda());
}

}  // namespace chime::host
