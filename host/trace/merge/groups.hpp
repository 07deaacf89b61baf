// The groups of events that have tracks of their own, and which group an event belongs to.
#pragma once

#include <string>

#include "host/trace/part_format.hpp"

namespace chime::trace {

// In the order of their tracks.
enum class Group {
  kCall,
  kKernel,
  kCollective,
  kWait,
  kSignal,
  kPut,
  kGet,
  kAtomic,
  kOrder,
  kNic,
  kProxy,
  kCount
};

Group group_of(const Event& event);

// As the events' category, and as the name of their tracks.
const char* category_of(Group group);
const char* track_of(Group group);
// Requests have none, as they belong to no thread.
bool has_track(Group group);
// Before the names of its events.
std::string prefix_of(Group group);

// The name of an operation; "wait in ..." where a call that meets waits for one PE.
const char* operation_name(std::uint16_t operation);
bool is_wait_in_meeting(const Event& event);
// A wait for some words of an array: it does not say which.
bool is_wait_for_some(const Event& event);

// What an operation does to a word, for arrows.
enum class Update { kNone, kSet, kAdd, kOther };
Update update_of(const Event& event);

}  // namespace chime::trace
