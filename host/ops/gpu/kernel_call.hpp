// A call of the host of a GPU's PE that kernels of the library carry out, one after another. These
// kernels use the kernels' paths to peers, record a failure for this call alone, and leave results
// where the host sees them. One at a time for each PE.
#pragma once

#include <mutex>

#include "host/gpu/library_kernel.hpp"
#include "host/pe/runtime.hpp"

namespace chime::host {

class KernelCall {
 public:
  // Waits for the PE's other calls. Every kernel's wait is bounded, but that of a collective whose
  // caller has asked for no bound.
  explicit KernelCall(Runtime& runtime);

  // Returns when the kernel has ended. Throws what it recorded, as the host call's own failure.
  template <class Call>
  void run(LibraryKernel kernel, Call call) {
    void* arguments[] = {&context_, &call};
    runtime_.device->gpu->launch(kernel, arguments);
    throw_failure();
  }

  // Two words; zero at first.
  std::uint64_t* result() { return runtime_.device->control().call_result; }
  // Memory for operands that kernels do not reach: such as requests can name, until a call failed
  // whose requests may still use it; then such as kernels stage, more slowly.
  std::span<std::byte> bounce();

 private:
  void throw_failure();

  Runtime& runtime_;
  const std::lock_guard<std::mutex> lock_;
  Context context_;
  bool uses_bounce_ = false;
};

}  // namespace chime::host
