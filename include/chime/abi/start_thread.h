// Starts a thread of the library's own. The thread takes none of the program's signals. If the
// system has no room for it, the error names the limit.
#ifndef CHIME_ABI_START_THREAD_H_
#define CHIME_ABI_START_THREAD_H_

#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "chime/abi/resource_limits.h"
#include "chime/abi/signals_held.h"

namespace chime::abi {

// Throws std::runtime_error with a sentence for the user.
template <class Body>
std::thread start_thread(Body&& body) {
  if (const std::string why = why_stack_is_too_small(); !why.empty())
    throw std::runtime_error("no thread can be started: " + why);
  try {
    const SignalsHeld held;
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    throw std::runtime_error(std::string("no thread can be started (") + error.what() +
                             "): " + why_no_thread());
  }
}

}  // namespace chime::abi

#endif  // CHIME_ABI_START_THREAD_H_
