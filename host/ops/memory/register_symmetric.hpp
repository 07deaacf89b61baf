// Memory of the program's own becomes symmetric: chimex_buffer_register_symmetric of the calling
// thread's PE.
#pragma once

#include <cstddef>

namespace chime::host {

// All PEs ask for the same number of bytes, each for a buffer of its own. Returns the symmetric
// address; throws Error on every PE if one cannot.
void* collective_register(void* buffer, std::size_t bytes, int flags);
// `address`: what it returned. Returns when every PE has come.
void collective_unregister(void* address, std::size_t bytes);

}  // namespace chime::host
