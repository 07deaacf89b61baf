// exec on the CPU: an operation on the timeline, while an object of class Traced lives.
//
// The event is written when the operation begins, so that one that never ends is on the timeline,
// too.
#pragma once

#include <cstdint>

#include "chime/abi/operation.h"
#include "chime/device/simt/exec/export.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

// Null: nothing records, or there is no room left.
CHIME_SIMT_EXPORT void* begin_traced(const Context& ctx, const abi::TracedWork& work);
CHIME_SIMT_EXPORT void end_traced(void* event);
CHIME_SIMT_EXPORT void note_seen(void* event, std::uint64_t value);

}  // namespace chime::simt

namespace chime::exec {

class Traced {
 public:
  Traced(const Context& ctx, bool is_on, const abi::TracedWork& work)
      : event_(is_on ? simt::begin_traced(ctx, work) : nullptr) {}
  ~Traced() {
    if (event_ != nullptr) simt::end_traced(event_);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  // The value that ended a wait: `look()`.
  template <class Look>
  void saw(Look look) const {
    if (event_ != nullptr) simt::note_seen(event_, look());
  }

 private:
  void* const event_;
};

}  // namespace chime::exec
