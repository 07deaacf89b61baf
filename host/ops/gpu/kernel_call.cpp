#include "host/ops/gpu/kernel_call.hpp"

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/state.cuh"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"

namespace chime::host {

// A failure is the host's to act upon, whatever CHIME_ON_ERROR says of kernels.
KernelCall::KernelCall(Runtime& runtime)
    : runtime_(runtime), lock_(runtime.one_kernel_call), context_(context()) {
  ControlBlock& control = runtime.device->control();
  context_.pe.error = &control.call_failure;
  context_.pe.on_error = OnError::kReturn;
  for (std::uint64_t& word : control.call_result) word = 0;
}

std::span<std::byte> KernelCall::bounce() {
  uses_bounce_ = true;
  context_.pe.allocations = nullptr;  // it is none; the host has checked both ends
  DeviceStage& device = *runtime_.device;
  if (!device.bounce_is_left) return device.bounce;
  return {device.staged_bounce->address(), by_kernel::kStagedBounceBytes};
}

void KernelCall::throw_failure() {
  abi::ErrorRecord& failure = runtime_.device->control().call_failure;
  if (failure.claimed == 0) return;
  if (uses_bounce_) runtime_.device->bounce_is_left = true;
  failure.in_kernel = 0;  // the caller is no kernel
  throw_own_error(runtime_, failure, static_cast<Operation>(failure.operation));
}

}  // namespace chime::host
