// Updates the words of a heap that the processor reaches, by its atomics. Kernels on the CPU device
// and host operations use the same ones, so all updates of a word are atomic with each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/transport/transport.hpp"

namespace chime::proxy {

class HeapWords final : public host::WordOwner {
 public:
  explicit HeapWords(std::span<std::byte> heap) : heap_(heap) {}
  std::uint64_t update(std::uint64_t at, const host::WordUpdate& update) override;
  void write(std::uint64_t at, std::span<const std::byte> data) override;

 private:
  const std::span<std::byte> heap_;
};

}  // namespace chime::proxy
