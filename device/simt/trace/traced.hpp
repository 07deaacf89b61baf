// exec on the CPU: an operation on the timeline.
//
// The event is written when the operation begins, so that one that never ends is on the timeline,
// too.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chime/abi/operation.h"
#include "chime/abi/pe.h"
#include "chime/device/simt/exec/export.hpp"
#include "chime/device/simt/trace/noting.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

// Null: nothing records, or there is no room left. By values: a struct whose address is taken would
// be stored before each test, too (1 ns of the same).
CHIME_SIMT_EXPORT void* begin_traced(const Context& ctx, chime::Operation operation, int pe,
                                     const void* address, std::size_t bytes, std::uint64_t value,
                                     int how);

}  // namespace chime::simt

namespace chime::exec {

// ---- What Pe::checked says ----------------------------------------------------------------------

constexpr std::uint32_t checks_of(std::uint32_t checked) { return checked & abi::kChecks; }
// An unfilled Context is that of a checked job.
inline bool may_be_unfilled(std::uint32_t checked) { return checked != 0; }

// ---- An operation -------------------------------------------------------------------------------

// end() is called by hand. A destructor would run for exceptions, too, and for that the compiler
// keeps more in memory (1 ns of a put and quiet's 6). An operation whose thread has ended meanwhile
// is shown as open.
class Traced {
 public:
  [[gnu::always_inline]] Traced(const Context& ctx, const abi::Pe& pe, bool is_leader,
                                const abi::TracedWork& work)
      : event_(__builtin_expect(pe.traced != 0, false) && is_leader
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

// Whether an operation may have to be noted: note() asks on. It is the test that the operation
// makes of a checked job anyway, and of an unfilled Context.
[[gnu::always_inline]] inline bool may_note(const abi::Pe& pe) {
  return __builtin_expect(pe.checked != 0, false);
}

// act(ctx, g, arguments...), noted: the second copy of a short operation. Out of line, with
// arguments by value, and with all that it calls: so the compiler gives the first copy the
// registers and the calls that it would have alone.
template <class Group, class Act, class... Arguments>
[[gnu::noinline, gnu::cold, gnu::flatten]] auto note(const Context& ctx, const abi::Pe& pe, Group g,
                                                     abi::TracedWork work, Act act,
                                                     Arguments... arguments) {
  const Traced traced(ctx, pe, g.is_leader(), work);
  if constexpr (std::is_void_v<decltype(act(ctx, g, arguments...))>) {
    act(ctx, g, arguments...);
    traced.end();
  } else {
    return traced.ended(act(ctx, g, arguments...));
  }
}

}  // namespace chime::exec
