#include "net/mesh/upkeep.hpp"

#include <time.h>

namespace chime::net {

Upkeep::Time Upkeep::used() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace chime::net
