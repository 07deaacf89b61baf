#include "host/trace/clock.hpp"

#include <sys/stat.h>
#include <time.h>

#include <fstream>

namespace chime::trace {
namespace {

// A time namespace has a monotonic clock of its own.
std::string time_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/time", &status) == 0 ? std::to_string(status.st_ino) : "";
}

}  // namespace

std::uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::uint64_t number_of_clock() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return hash_of(boot + "/" + time_namespace());
}

}  // namespace chime::trace
