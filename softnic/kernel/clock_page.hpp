// How timestamps of completions become the time of day: the page that libmlx5 maps for
// mlx5dv_get_clock_info(). It lies in the file of the doorbell pages, at the offset that the
// kernel's interface defines.
#pragma once

#include <rdma/mlx5-abi.h>

#include <cstdint>

namespace softnic {

// Its number among the pages of the file; no doorbell page has it.
inline constexpr std::uint32_t kClockPage = MLX5_IB_MMAP_CLOCK_INFO << 8;

// Writes the page. Throws std::runtime_error.
void write_clock_page(int bar_fd);

}  // namespace softnic
