// Runs a kernel of PTX on the executor, without the driver.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chime/device/simt/exec/exec_host.hpp"
#include "softgpu/kernel_code.hpp"
#include "softgpu/launch_counts.hpp"

namespace softgpu::tests {

struct Shape {
  unsigned blocks = 1, threads = 32;
  std::uint32_t dynamic_shared = 0;
  bool watched = false, counting = false;
  std::string* trap = nullptr;  // takes the report of a trap; else the process ends
};

class PtxCall final : public chime::simt::KernelCall {
 public:
  PtxCall(Kernel& kernel, std::vector<std::uint8_t> parameters, const Shape& shape,
          std::uint64_t* counts)
      : kernel_(kernel),
        parameters_(std::move(parameters)),
        dynamic_shared_(shape.dynamic_shared),
        code_(kernel.code({shape.watched, shape.counting})),
        counts_(counts),
        trap_(shape.trap) {}
  void run_thread() const override {
    Env e = kernel_.env({parameters_.data(), dynamic_shared_, 0, counts_});
    code_(e);
  }
  const void* address() const override { return reinterpret_cast<const void*>(code_); }
  const char* name() const override { return kernel_.name().c_str(); }
  bool take_trap(const char* words) const override {
    if (trap_ != nullptr) *trap_ = words;
    return trap_ != nullptr;
  }

 private:
  Kernel& kernel_;
  const std::vector<std::uint8_t> parameters_;
  const std::uint32_t dynamic_shared_;
  const Kernel::Code code_;
  std::uint64_t* const counts_;
  std::string* const trap_;
};

// Waits until the kernel has ended. `counts`: for a kernel whose shape counts.
template <class... Arguments>
void run_counted(Kernel& kernel, const Shape& shape, LaunchCounts* counts, Arguments... arguments) {
  std::vector<std::uint8_t> bytes(kernel.param_bytes());
  std::size_t at = 0;
  [[maybe_unused]] const auto place = [&](const auto& value) {
    if (at >= kernel.parameters().size() || sizeof value != kernel.parameters()[at].bytes) {
      throw std::runtime_error("the kernel has other parameters");
    }
    std::memcpy(bytes.data() + kernel.parameters()[at++].offset, &value, sizeof value);
  };
  (place(arguments), ...);
  chime::exec::LaunchConfig config;
  config.grid = shape.blocks;
  config.block = shape.threads;
  config.shared_bytes = kernel.static_shared() + shape.dynamic_shared;
  const auto status = chime::simt::launch_call(
      config, std::make_unique<PtxCall>(kernel, std::move(bytes), shape,
                                        counts ? counts->numbers() : nullptr));
  if (static_cast<chime::exec::Status>(status) != CHIMEX_OK)
    throw std::runtime_error(chime::exec::last_error());
  chime::exec::stream_synchronize({});
}
template <class... Arguments>
void run(Kernel& kernel, const Shape& shape, Arguments... arguments) {
  run_counted(kernel, shape, nullptr, arguments...);
}

}  // namespace softgpu::tests
