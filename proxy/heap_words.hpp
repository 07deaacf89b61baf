// The words of a heap that the processor reaches, updated by its atomics: those of kernels on the
// CPU device and of host operations are the same, so all updates of a word are atomic with each
// other, however they come.
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
