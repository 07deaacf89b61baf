// Collective memory management of the calling thread's PE.
#pragma once

#include <cstddef>

namespace chime::host {

// All PEs ask for the same. Throws Error on every PE if the PEs differ, or if there is no room.
// Null for 0 bytes.
void* collective_malloc(std::size_t bytes);
void* collective_calloc(std::size_t count, std::size_t bytes);
void* collective_align(std::size_t alignment, std::size_t bytes);

// Null is allowed. Returns when every PE has come: nobody uses the memory any more.
void collective_free(void* address);

}  // namespace chime::host
