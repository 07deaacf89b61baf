#include "softgpu/driver/kernel_call.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "chime/device/simt/launch/options.hpp"
#include "chime/device/simt/threads/thread.hpp"
#include "softgpu/driver/count_file.hpp"
#include "softgpu/driver/device.hpp"

namespace softgpu::driver {

Kernel::Code prepare(Function& function) {
  function.kernel.static_shared();
  const chime::simt::Options options = chime::simt::options();
  return function.kernel.code(
      {.watched = options.seed != 0 || options.weak, .counting = launches_are_counted()});
}

// Until the program sets a limit, variables and dynamic memory share the default of a kernel.
int most_dynamic_shared(Function& function) {
  if (const int asked = function.most_dynamic_shared; asked >= 0) return asked;
  const std::size_t own = std::min(function.kernel.static_shared(), kSharedBytesWithoutAsking);
  return static_cast<int>(kSharedBytesWithoutAsking - own);
}

// The executor's limit is divided among the processors.
int resident_blocks(Function& function, int threads, std::size_t dynamic_shared) {
  if (static_cast<unsigned>(threads) > function.kernel.max_threads()) return 0;
  if (function.kernel.static_shared() + dynamic_shared > most_shared_bytes()) return 0;
  const auto executor = static_cast<int>(chime::simt::options().resident_blocks);
  return std::min(blocks_per_multiprocessor(), executor / multiprocessors());
}

TranslatedCall::TranslatedCall(Context& context, std::shared_ptr<Function> function,
                               std::vector<std::uint8_t> arguments, std::size_t dynamic_shared,
                               bool cooperative)
    : context_(context.shared_from_this()),
      function_(std::move(function)),
      code_(prepare(*function_)),
      arguments_(std::move(arguments)),
      workspace_(cooperative ? std::make_unique<GridWorkspace>() : nullptr),
      counts_(launches_are_counted() ? std::make_shared<LaunchCounts>(function_->kernel) : nullptr),
      data_{.parameters = arguments_.data(),
            .dynamic_shared_bytes = static_cast<std::uint32_t>(dynamic_shared),
            .grid_workspace = reinterpret_cast<std::uint64_t>(workspace_.get()),
            .counts = counts_ ? counts_->numbers() : nullptr} {}

// A lost context runs no more kernels.
void TranslatedCall::run_thread() const {
  if (context_->failure() != CUDA_SUCCESS) chime::simt::end_kernel();
  Env env = function_->kernel.env(data_);
  code_(env);
}

bool TranslatedCall::take_trap(const char* words) const {
  const auto says = [&](std::string_view what) {
    return std::string_view(words).find(what) != std::string_view::npos;
  };
  const CUresult failure = says("assertion `")          ? CUDA_ERROR_ASSERT
                           : says("misaligned address") ? CUDA_ERROR_MISALIGNED_ADDRESS
                                                        : CUDA_ERROR_LAUNCH_FAILED;
  const std::string message = "kernel " + function_->shown_name + ": " + words;
  context_->lose(failure, message.c_str());
  return true;
}

}  // namespace softgpu::driver
