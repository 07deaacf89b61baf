// Launches this PE's kernels on the default stream, in its shape.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/state.cuh"
#include "system/arrays.hpp"

namespace particles {

class Launcher {
 public:
  explicit Launcher(const Shape& shape) : shape_(shape) {}
  const Shape& shape() const { return shape_; }

  // The whole grid, all blocks at once: they may wait for each other and for other PEs.
  template <class Kernel, class... A>
  void grid(Kernel kernel, A&&... arguments) const {
    start(shape_.blocks, kernel, std::forward<A>(arguments)...);
  }

  template <class Kernel, class... A>
  void block(Kernel kernel, A&&... arguments) const {
    start(1, kernel, std::forward<A>(arguments)...);
  }

  // Calls visit(lanes) with the shape's lanes as a constant.
  template <class Visit>
  void with_lanes(Visit visit) const {
    if (shape_.lanes == 1) {
      visit(std::integral_constant<int, 1>{});
    } else {
      visit(std::integral_constant<int, 32>{});
    }
  }

 private:
  template <class Kernel, class... A>
  void start(int blocks, Kernel kernel, A&&... arguments) const {
    exec::LaunchConfig config;
    config.grid = exec::dim3(static_cast<unsigned>(blocks));
    config.block = exec::dim3(static_cast<unsigned>(shape_.threads));
    config.cooperative = true;
    if (exec::launch(config, kernel, std::forward<A>(arguments)...) != CHIMEX_OK)
      throw std::runtime_error(
          fmt::format("launching a kernel of {} blocks of {} threads failed: {}", blocks,
                      shape_.threads, exec::last_error()));
  }

  Shape shape_;
};

}  // namespace particles
