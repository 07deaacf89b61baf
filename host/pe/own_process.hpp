// Whether this process is the one in which its PEs live. A child of fork() has copies of all that a
// PE is made of and none of its threads: its calls would speak for its parent, which would not know
// of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace chime::host {

namespace own_process {

// Points to 1 in the process that has claimed its PEs, and to 0 in copies of that process. A
// pointer, because a page of the library's own cannot be aligned for every size of pages.
extern constinit std::atomic<const std::atomic<std::uint32_t>*> mark;

}  // namespace own_process

// Notes that the PEs of this process live here. Throws Error{SYSTEM}.
void claim_process();

// False in a child of the process that has claimed it. Every call runs this: two loads from memory
// that nobody writes, no system call.
inline bool is_own_process() {
  // Acquire: pairs with the release in claim_process.
  const auto* const mark = own_process::mark.load(std::memory_order_acquire);
  return mark->load(std::memory_order_relaxed) != 0;
}

}  // namespace chime::host
