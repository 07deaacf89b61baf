// The part that libfabric hands back when an operation has ended: the head of each object that is
// posted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/transport/ofi/fabric/library.hpp"

namespace chime::host::ofi {

struct Posted {
  enum class Kind : std::uint8_t { kTransfer, kMessageBatch, kReceive };

  explicit Posted(Kind its_kind) : kind(its_kind) {}
  Posted(const Posted&) = delete;

  // The provider's while it is posted. First, so that its address is the object's.
  fi_context2 context = {};
  const Kind kind;
  Posted* next = nullptr;  // among those of its link that the provider has not taken yet

  static Posted& of(void* context) { return *static_cast<Posted*>(context); }
};

}  // namespace chime::host::ofi
