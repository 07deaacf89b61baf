// Words of this PE's heap where a NIC updates some of them: this PE's own NIC updates these,
// through the queue pair that leads back to itself, for any PE that asks its proxy. A processor's
// atomics and a NIC's on one word would lose updates; those of one NIC are atomic with each other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "chime/abi/context.h"
#include "host/transport/transport.hpp"

namespace chime::host {

class LoopbackWords final : public WordOwner {
 public:
  // `context`: of host operations. `puts`: writes what is no update. REQUIRES: a NIC leads to this
  // PE itself, from the beginning.
  LoopbackWords(const Context& context, std::unique_ptr<WordOwner> puts);

  // When the NIC says that it is done. Throws Error when it never will.
  std::uint64_t update(std::uint64_t at, const WordUpdate& update) override;
  // By the processor: puts are atomic with nothing.
  void write(std::uint64_t at, std::span<const std::byte> data) override;

 private:
  abi::ErrorRecord failure_{};  // of the last update, if it failed
  Context context_;
  std::unique_ptr<WordOwner> puts_;
};

}  // namespace chime::host
