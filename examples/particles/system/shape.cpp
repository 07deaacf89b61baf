#include "system/shape.hpp"

#include <algorithm>

#include "system/arrays.hpp"

namespace particles {
namespace {

// On a CPU one thread that keeps its core's vector units and cache busy is faster than many that
// take turns. So one PE means one core, as in an MPI program.
constexpr int kCpuThreads = 1;
constexpr int kCpuBlocks = 1;
constexpr int kGpuThreads = 128;
constexpr int kGpuBlocksPerMultiprocessor = 2;
constexpr int kWarp = 32;

}  // namespace

Shape choose_shape(const Options& options, std::size_t atoms) {
  exec::DeviceProps props{};
  check(exec::device_props(0, &props), "asking for the device's properties");
  Shape shape{};
  shape.threads = options.threads > 0 ? options.threads : props.is_cpu ? kCpuThreads : kGpuThreads;
  shape.lanes = shape.threads >= kWarp ? kWarp : 1;
  const int useful = std::max(1, static_cast<int>((atoms + shape.threads - 1) / shape.threads));
  const int wanted = props.is_cpu
                         ? kCpuBlocks
                         : std::min(useful, kGpuBlocksPerMultiprocessor * props.multiprocessors);
  shape.blocks = options.blocks > 0 ? options.blocks : wanted;
  return shape;
}

}  // namespace particles
