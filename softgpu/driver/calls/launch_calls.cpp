// Launches: the check of a configuration, and a kernel with its arguments on the executor.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "chime/device/simt/launch/options.hpp"
#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/count_file.hpp"
#include "softgpu/driver/device.hpp"
#include "softgpu/driver/kernel_call.hpp"
#include "softgpu/driver/loading.hpp"
#include "softgpu/driver/objects.hpp"

using namespace softgpu::driver;

namespace driver = softgpu::driver;

namespace {

struct Configuration {
  chime::exec::dim3 grid, block;
  std::size_t dynamic_shared;
  bool cooperative;

  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  std::uint64_t threads() const { return std::uint64_t{block.x} * block.y * block.z; }
};

// ---- Checks -------------------------------------------------------------------------------------

void check_dimensions(const Device& device, const Configuration& launch) {
  const auto most = [&](CUdevice_attribute which) {
    return static_cast<unsigned>(device.attribute(which));
  };
  const auto &g = launch.grid, &b = launch.block;
  if (launch.blocks() == 0 || g.x > most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) ||
      g.y > most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) ||
      g.z > most(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z))
    fail(CUDA_ERROR_INVALID_VALUE, "a grid of %u x %u x %u blocks", g.x, g.y, g.z);
  if (launch.threads() == 0 || launch.threads() > kMaxBlockThreads ||
      b.z > most(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z))
    fail(CUDA_ERROR_INVALID_VALUE, "a block of %u x %u x %u threads: %d are possible", b.x, b.y,
         b.z, kMaxBlockThreads);
}

void check_resources(Function& function, const Configuration& launch) {
  const char* const name = function.shown_name.c_str();
  if (launch.threads() > function.kernel.max_threads())
    fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "%llu threads of %s, whose launch bounds are %u",
         static_cast<unsigned long long>(launch.threads()), name, function.kernel.max_threads());
  if (launch.dynamic_shared > static_cast<std::size_t>(most_dynamic_shared(function)))
    fail(CUDA_ERROR_INVALID_VALUE,
         "%zu bytes of dynamic shared memory for %s: %d are possible "
         "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
         launch.dynamic_shared, name, most_dynamic_shared(function));
}

// Names both limits and the variables that raise them: a GPU takes more blocks than a small
// machine.
void check_cooperative(Function& function, const Configuration& launch) {
  if (!launch.cooperative) return;
  const auto multiprocessors = static_cast<unsigned>(driver::multiprocessors());
  const auto each = static_cast<unsigned>(
      resident_blocks(function, static_cast<int>(launch.threads()), launch.dynamic_shared));
  if (launch.blocks() <= std::uint64_t{each} * multiprocessors) return;
  const std::uint64_t needed = (launch.blocks() + multiprocessors - 1) / multiprocessors;
  std::string raised;
  if (needed > static_cast<unsigned>(blocks_per_multiprocessor()))
    raised = " CHIME_SOFTGPU_BLOCKS=" + std::to_string(needed);
  if (needed > chime::simt::options().resident_blocks / multiprocessors)
    raised += " CHIME_SIMT_RESIDENT=" + std::to_string(needed * multiprocessors);
  fail_aloud(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
             "a cooperative launch of %llu blocks of %s: %u can be resident, %u on each of %u "
             "multiprocessors. To raise the limit:%s",
             static_cast<unsigned long long>(launch.blocks()), function.shown_name.c_str(),
             each * multiprocessors, each, multiprocessors, raised.c_str());
}

// ---- Arguments --------------------------------------------------------------------------------

// The buffer of `extra`, which has all arguments. Null: there is none.
const void* buffer_of(void** extra, std::size_t needed) {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      fail(CUDA_ERROR_INVALID_VALUE, "a launch's extra has an unknown entry");
  }
  if (buffer && bytes < needed)
    fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of arguments: the kernel takes %zu", bytes, needed);
  return buffer;
}

std::vector<std::uint8_t> copy_arguments(const softgpu::Kernel& kernel, void** arguments,
                                         void** extra) {
  std::vector<std::uint8_t> bytes(kernel.param_bytes());
  const void* const buffer = buffer_of(extra, bytes.size());
  if (arguments && buffer)
    fail(CUDA_ERROR_INVALID_VALUE, "a launch with arguments both by address and in a buffer");
  if (buffer) {
    std::memcpy(bytes.data(), buffer, bytes.size());
    return bytes;
  }
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    const softgpu::KernelParameter& parameter = kernel.parameters()[i];
    if (!arguments || !arguments[i])
      fail(CUDA_ERROR_INVALID_VALUE, "argument %zu of %zu of %s is missing", i,
           kernel.parameters().size(), kernel.name().c_str());
    std::memcpy(bytes.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return bytes;
}

// ---- The launch -------------------------------------------------------------------------------

// Before a thread that waits for the stream continues: the program may end then.
void append_when_it_has_ended(chime::exec::Stream stream, const CountedLaunch& launch) {
  const auto write = [](void* argument) {
    const std::unique_ptr<CountedLaunch> ended(static_cast<CountedLaunch*>(argument));
    append(*ended);
  };
  chime::exec::stream_host_call(stream, write, new CountedLaunch(launch));
}

CUresult launch(CUfunction handle, const Configuration& launch, CUstream stream_handle,
                void** arguments, void** extra) {
  return answer_in_context([&](Context& context) {
    const std::shared_ptr<Function> function = function_of(handle);
    if (&function->context != &context)
      fail(CUDA_ERROR_INVALID_HANDLE, "%s is of another context than the current one",
           function->shown_name.c_str());
    const std::shared_ptr<Stream> stream = context.stream_of(stream_handle);
    check_dimensions(context.device(), launch);
    check_resources(*function, launch);
    check_cooperative(*function, launch);
    load(*function);
    auto call = std::make_unique<TranslatedCall>(context, function,
                                                 copy_arguments(function->kernel, arguments, extra),
                                                 launch.dynamic_shared, launch.cooperative);
    chime::exec::LaunchConfig config;
    config.grid = launch.grid;
    config.block = launch.block;
    config.shared_bytes = function->kernel.static_shared() + launch.dynamic_shared;
    config.cooperative = launch.cooperative;
    config.stream = stream->executor();
    const CountedLaunch counted{function, launch.blocks(), launch.threads(), call->counts()};
    context.queue(*stream, [&](Stream&) {
      if (chime::simt::launch_call(config, std::move(call)) != CHIMEX_OK)
        fail(CUDA_ERROR_UNKNOWN, "%s", chime::exec::last_error());
      if (counted.counts) append_when_it_has_ended(config.stream, counted);
    });
  });
}

}  // namespace

SOFTGPU_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                        int threads, size_t dynamic_shared_bytes) {
  return answer_in_context([&](Context&) {
    need(blocks);
    if (threads < 1 || threads > kMaxBlockThreads)
      fail(CUDA_ERROR_INVALID_VALUE, "the occupancy of blocks of %d threads", threads);
    *blocks = resident_blocks(*function_of(function), threads, dynamic_shared_bytes);
  });
}

SOFTGPU_API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned dynamic_shared_bytes, CUstream stream, void** arguments,
                           void** extra) {
  return launch(
      function,
      {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared_bytes, false}, stream,
      arguments, extra);
}

SOFTGPU_API cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned dynamic_shared_bytes,
                                      CUstream stream, void** arguments) {
  return launch(function,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared_bytes, true},
                stream, arguments, nullptr);
}
