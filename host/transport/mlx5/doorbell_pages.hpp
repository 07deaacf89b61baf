// Doorbell registers as kernels reach them. Several lie in a page; each page is mapped to the
// device once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host::mlx5 {

class DoorbellPages {
 public:
  explicit DoorbellPages(Gpu& gpu) : gpu_(gpu) {}

  // The address that kernels store to for the register at `reg`. Throws Error saying what the
  // driver needs.
  std::uint64_t* map(void* reg) {
    const auto address = reinterpret_cast<std::uintptr_t>(reg);
    const std::uintptr_t page = address & ~(kPage - 1);
    std::unique_ptr<IoMapping>& mapping = mapped_[page];
    if (!mapping) mapping = gpu_.map_io_memory(reinterpret_cast<std::byte*>(page), kPage);
    return reinterpret_cast<std::uint64_t*>(mapping->address() + (address - page));
  }

 private:
  static constexpr std::uintptr_t kPage = 4096;

  Gpu& gpu_;
  std::map<std::uintptr_t, std::unique_ptr<IoMapping>> mapped_;
};

}  // namespace chime::host::mlx5
