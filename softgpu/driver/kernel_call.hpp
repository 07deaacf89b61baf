// A kernel of a module, for the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chime/device/simt/exec/exec_host.hpp"
#include "softgpu/driver/context.hpp"
#include "softgpu/driver/objects.hpp"
#include "softgpu/launch_counts.hpp"

namespace softgpu::driver {

// Translates and compiles the kernel for launches with the executor's current options, if that is
// not done yet. Throws PtxError.
Kernel::Code prepare(Function& function);

int most_dynamic_shared(Function& function);

// Blocks of a multiprocessor that can be resident.
int resident_blocks(Function& function, int threads, std::size_t dynamic_shared);

class TranslatedCall final : public chime::simt::KernelCall {
 public:
  TranslatedCall(Context& context, std::shared_ptr<Function> function,
                 std::vector<std::uint8_t> arguments, std::size_t dynamic_shared, bool cooperative);

  void run_thread() const override;
  const void* address() const override { return reinterpret_cast<const void*>(code_); }
  const char* name() const override { return function_->shown_name.c_str(); }
  bool take_trap(const char* words) const override;

  // Null: no counting.
  const std::shared_ptr<LaunchCounts>& counts() const { return counts_; }

 private:
  // The workspace of a cooperative launch, for %envreg1 and 2.
  struct GridWorkspace {
    std::uint32_t bytes = sizeof(GridWorkspace), barrier = 0;
  };

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Function> function_;
  const Kernel::Code code_;
  const std::vector<std::uint8_t> arguments_;
  const std::unique_ptr<GridWorkspace> workspace_;
  const std::shared_ptr<LaunchCounts> counts_;
  LaunchData data_;
};

}  // namespace softgpu::driver
