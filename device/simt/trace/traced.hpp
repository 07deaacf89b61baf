// exec on the CPU: an operation on the timeline.
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

// Null: nothing records, or there is no room left. By values: a struct whose address is taken would
// be stored before each test, too (1 ns of the same).
CHIME_SIMT_EXPORT void* begin_traced(const Context& ctx, chime::Operation operation, int pe,
                                     const void* address, std::size_t bytes, std::uint64_t value,
                                     int how);
CHIME_SIMT_EXPORT void end_traced(void* event);
CHIME_SIMT_EXPORT void note_seen(void* event, std::uint64_t value);

}  // namespace chime::simt

namespace chime::exec {

// end() is called by hand. A destructor would run for exceptions, too, and for that the compiler
// keeps more in memory (1 ns of a put and quiet's 6). An operation whose thread has ended meanwhile
// is shown as open.
class Traced {
 public:
  [[gnu::always_inline]] Traced(const Context& ctx, std::uint32_t is_on, bool is_leader,
                                const abi::TracedWork& work)
      : event_(__builtin_expect(is_on != 0, false) && is_leader
                   ? simt::begin_traced(ctx, work.operation, work.pe, work.address, work.bytes,
                                        work.value, work.how)
                   : nullptr) {}

  [[gnu::always_inline]] void end() const {
    if (__builtin_expect(event_ != nullptr, false)) simt::end_traced(event_);
  }
  // For the operation's last line.
  template <class Result>
  [[gnu::always_inline]] Result ended(Result result) const {
    end();
    return result;
  }

  // The value that ended a wait: `look()`.
  template <class Look>
  void saw(Look look) const {
    if (__builtin_expect(event_ != nullptr, false)) simt::note_seen(event_, look());
  }

 private:
  void* const event_;
};

}  // namespace chime::exec
