// The GPU device of a build without the CUDA toolkit.
#include "host/errors/error.hpp"
#include "host/gpu/cuda_gpu.hpp"

namespace chime::host {

std::string why_no_cuda() {
  return "this libchime was built without CUDA: it runs kernels that a host compiler compiled, on "
         "the CPU, and none that nvcc compiled; install one that is configured with "
         "-DCHIME_CUDA=ON (preset cuda) where the CUDA toolkit is";
}

bool is_built_with_cuda() { return false; }

std::optional<int> chosen_cuda_device() { return std::nullopt; }

void choose_cuda_device(int) { throw Error("CUDA", CHIMEX_ERR_UNSUPPORTED, why_no_cuda()); }

std::vector<std::string> cuda_devices() {
  throw Error("CUDA", CHIMEX_ERR_UNSUPPORTED, why_no_cuda());
}

std::unique_ptr<Gpu> make_cuda_gpu(int, const std::string&) {
  throw Error("CUDA", CHIMEX_ERR_UNSUPPORTED, why_no_cuda());
}

}  // namespace chime::host
