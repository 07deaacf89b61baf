#include "softgpu/runtime/primary_contexts.hpp"

#include <map>
#include <mutex>

#include "softgpu/driver/immortal.hpp"

namespace softgpu::runtime {

namespace {

struct PrimaryContexts {
  std::mutex mutex;
  std::map<CUdevice, CUcontext> retained;
};

CUresult retain(CUdevice device, CUcontext* context) {
  auto& all = driver::immortal<PrimaryContexts>();
  const std::lock_guard lock(all.mutex);
  CUcontext& known = all.retained[device];
  if (known == nullptr) {
    const CUresult result = cuDevicePrimaryCtxRetain(&known, device);
    if (result != CUDA_SUCCESS) return result;
  }
  *context = known;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult make_primary_current(CUdevice device) {
  CUcontext context = nullptr;
  if (const CUresult result = retain(device, &context); result != CUDA_SUCCESS) return result;
  return cuCtxSetCurrent(context);
}

void forget_primary(CUdevice device) {
  auto& all = driver::immortal<PrimaryContexts>();
  const std::lock_guard lock(all.mutex);
  all.retained.erase(device);
}

}  // namespace softgpu::runtime
