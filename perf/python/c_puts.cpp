// Puts of the C interface, for put_lat.py to compare with in its own process.
#define CHIME_HOST_ONLY
#include <chime/chime.h>
#include <chime/host_ops.h>

#include <chrono>

// Nanoseconds of each of `count` puts.
extern "C" double c_put_ns(void* dst, const void* src, std::size_t bytes, int pe, int count) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) chime_host_put(dst, src, bytes, pe);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / count;
}
