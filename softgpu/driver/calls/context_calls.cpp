// Contexts: a device's primary one, others, and which of them is current.
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"

using namespace softgpu::driver;

namespace {

constexpr unsigned kKnownFlags = 0xffu;

// Null may be made current: no context.
void need_live_or_null(CUcontext context) {
  if (context && !find_context(context))
    fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a context, or destroyed",
         static_cast<void*>(context));
}

Context& peer_of(Context& own, const std::shared_ptr<Context>& peer) {
  if (!peer) fail(CUDA_ERROR_INVALID_CONTEXT, "the peer is no context");
  if (&peer->device() == &own.device())
    fail(CUDA_ERROR_INVALID_DEVICE, "the peer is on the same device");
  return *peer;
}

}  // namespace

// ---- The primary context ----------------------------------------------------------------------

SOFTGPU_API cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return answer_initialised([&] {
    Device& of = device_of(device);
    required(context) = of.retain_primary()->handle();
  });
}

SOFTGPU_API cuDevicePrimaryCtxRelease(CUdevice device) {
  return answer_initialised([&] { device_of(device).release_primary(); });
}

SOFTGPU_API cuDevicePrimaryCtxReset(CUdevice device) {
  return answer_initialised([&] { device_of(device).reset_primary(); });
}

SOFTGPU_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return answer_initialised([&] {
    required(active) = device_of(device).primary_is_active();
    required(flags) = CU_CTX_SCHED_AUTO;
  });
}

// ---- Others -----------------------------------------------------------------------------------

SOFTGPU_API cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return answer_initialised([&] {
    Device& of = device_of(device);
    if (flags & ~kKnownFlags) fail(CUDA_ERROR_INVALID_VALUE, "cuCtxCreate: flags %#x", flags);
    need(context);
    *context = Context::create(of)->handle();
    push_context(*context);
  });
}

SOFTGPU_API cuCtxDestroy(CUcontext context) {
  return answer_initialised([&] {
    const std::shared_ptr<Context> meant = find_context(context);
    if (!meant)
      fail(CUDA_ERROR_INVALID_CONTEXT, "%p is not a context, or destroyed",
           static_cast<void*>(context));
    if (meant->device().is_primary(*meant))
      fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context ends by cuDevicePrimaryCtxRelease");
    if (top_context() == context) pop_context();
    meant->destroy();
  });
}

SOFTGPU_API cuCtxGetCurrent(CUcontext* context) {
  return answer_initialised([&] { required(context) = top_context(); });
}

SOFTGPU_API cuCtxSetCurrent(CUcontext context) {
  return answer_initialised([&] {
    need_live_or_null(context);
    set_context(context);
  });
}

SOFTGPU_API cuCtxPushCurrent(CUcontext context) {
  return answer_initialised([&] {
    need_live_or_null(context);
    push_context(context);
  });
}

SOFTGPU_API cuCtxPopCurrent(CUcontext* context) {
  return answer_initialised([&] {
    const CUcontext popped = pop_context();
    if (context) *context = popped;
  });
}

// Also for a lost context: a program may need its device.
SOFTGPU_API cuCtxGetDevice(CUdevice* device) {
  return answer_initialised([&] { required(device) = current_context()->device().ordinal(); });
}

SOFTGPU_API cuCtxSynchronize() {
  return answer_uncaptured("cuCtxSynchronize", [](Context& context) {
    context.synchronize();
    context.need_alive();
  });
}

// All devices share all addresses already; a second request is still refused.
SOFTGPU_API cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return answer_in_context([&](Context& context) {
    if (flags != 0) fail(CUDA_ERROR_INVALID_VALUE, "cuCtxEnablePeerAccess: flags are 0");
    const auto other = find_context(peer);
    if (!context.enable_peer(peer_of(context, other)))
      fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "access to device %d is enabled already",
           other->device().ordinal());
  });
}

SOFTGPU_API cuCtxDisablePeerAccess(CUcontext peer) {
  return answer_in_context([&](Context& context) {
    const auto other = find_context(peer);
    if (!context.disable_peer(peer_of(context, other)))
      fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "access to device %d is not enabled",
           other->device().ordinal());
  });
}
