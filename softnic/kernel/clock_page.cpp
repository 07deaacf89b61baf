#include "clock_page.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>

#include "mappings.hpp"

namespace softnic {
namespace {

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000ull + now.tv_nsec;
}

}  // namespace

// Timestamps count nanoseconds of CLOCK_MONOTONIC (encode_cqe), in 64 bits: they never wrap, so the
// page is written once. As with hardware, the time of day does not follow later changes of the
// clock.
void write_clock_page(int bar_fd) {
  mlx5_ib_clock_info info{};
  info.cycles = nanoseconds_of(CLOCK_MONOTONIC);
  info.nsec = nanoseconds_of(CLOCK_REALTIME);
  info.mult = 1;
  info.shift = 0;
  info.mask = ~0ull;
  if (::pwrite(bar_fd, &info, sizeof info, kClockPage * kPageBytes) !=
      static_cast<ssize_t>(sizeof info))
    throw std::runtime_error(std::string("softnic: cannot write the clock's page: ") +
                             std::strerror(errno));
}

}  // namespace softnic
