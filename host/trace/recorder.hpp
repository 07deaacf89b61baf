// Records events of this process in its part of the timeline, by any thread and without a lock.
//
// Each thread fills chunks of its own. A thread of the proxy or of the softnic may end an event of
// its own later; then other threads have begun others meanwhile.
#pragma once

#include <cstdint>

#include "host/trace/part_file.hpp"
#include "host/trace/part_format.hpp"

namespace chime::trace {

// Recording begins in `part`, which lives for ever, and ends.
void begin_recording(PartFile& part);
void end_recording();
bool is_recording();

// An event that begins now. `fill(event)` sets what is not zero, but times and kind. Null: nothing
// records, or there is no room.
template <class Fill>
Event* begin_event(EventKind kind, Fill fill);
// A name that lives for ever, as Event::name.
std::uint32_t number_of(const char* name);

// Null: nothing.
void end_event(Event* event);

// An event that lasts from `begin_ns` until now.
void add_call(const char* name, int pe, std::uint64_t begin_ns);

namespace detail {

Event* next_event();
void publish(Event& event, EventKind kind);

}  // namespace detail

template <class Fill>
Event* begin_event(EventKind kind, Fill fill) {
  Event* const event = detail::next_event();
  if (event == nullptr) return nullptr;
  fill(*event);
  detail::publish(*event, kind);
  return event;
}

}  // namespace chime::trace
