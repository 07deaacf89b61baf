// Finds the limit of the process (ulimit) that refuses memory or a thread, and describes it for the
// user. The system reports "Cannot allocate memory" or "Resource temporarily unavailable" for all
// of them.
#ifndef CHIME_ABI_RESOURCE_LIMITS_H_
#define CHIME_ABI_RESOURCE_LIMITS_H_

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "chime/cxx20.h"

namespace chime::abi {

// The soft limit; RLIM_INFINITY if there is none or the query fails.
inline rlim_t limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

inline std::string kib(std::uint64_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

// The bytes that the process has mapped; `data`: its private writable bytes, with stacks of
// threads.
struct MappedBytes {
  std::uint64_t all = 0;
  std::uint64_t data = 0;
};
inline MappedBytes mapped_bytes() {
  unsigned long long all = 0, data = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu %*u %*u %*u %*u %llu", &all, &data) != 2) all = data = 0;
    std::fclose(file);
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {all * page, data * page};
}

inline std::string words_of_limit(const char* what, rlim_t limit, std::uint64_t used,
                                  std::uint64_t needed) {
  return std::string("the limit on ") + what + " is " + kib(limit) + ", of which " + kib(used) +
         " are in use, and this takes " + kib(needed) + " more";
}

// The limit that keeps the process from mapping `bytes` more; empty if none does. `is_data`: memory
// that is not shared and may be written.
inline std::string why_no_memory(std::uint64_t bytes, bool is_data) {
  const MappedBytes mapped = mapped_bytes();
  const rlim_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
  if (space != RLIM_INFINITY && mapped.all + bytes > space)
    return words_of_limit("address space (ulimit -v)", space, mapped.all, bytes);
  if (is_data && data != RLIM_INFINITY && mapped.data + bytes > data)
    return words_of_limit("data (ulimit -d)", data, mapped.data, bytes);
  return "";
}

// The limit that keeps a file, or memory that processes share, from having `bytes`; empty if none
// does. An attempt would end the process by SIGXFSZ.
inline std::string why_no_file(std::uint64_t bytes) {
  const rlim_t limit = limit_of(RLIMIT_FSIZE);
  if (limit == RLIM_INFINITY || bytes <= limit) return "";
  return "the limit on files (ulimit -f), which shared memory counts as, is " + kib(limit) +
         ", and this takes " + kib(bytes) + "; raise it: ulimit -f unlimited";
}

// The stack of threads that request no size: ulimit -s at the program's start.
inline std::size_t default_stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

inline constexpr std::size_t kLeastStackBytes = 128 * 1024;
inline constexpr std::size_t kHugeStackBytes = std::size_t{1} << 30;

// The reason why a thread of Chime's own does not fit on a stack of the default size; empty if it
// does.
inline std::string why_stack_is_too_small() {
  const std::size_t stack = default_stack_bytes();
  if (stack == 0 || stack >= kLeastStackBytes) return "";
  return "the limit on stacks (ulimit -s) gives threads " + kib(stack) + ", and Chime's own need " +
         kib(kLeastStackBytes) + "; raise it: ulimit -s 8192";
}

// Why the system has started no thread, as far as its limits show.
inline std::string why_no_thread() {
  const std::size_t stack = default_stack_bytes();
  const std::string of_stack = "a thread's stack takes " + kib(stack) + " (ulimit -s)";
  if (const std::string why = why_no_memory(stack, true); !why.empty())
    return of_stack + ": " + why;
  if (stack >= kHugeStackBytes) return of_stack + "; lower it: ulimit -s 8192";
  return "raise the limit on processes (ulimit -u)";
}

}  // namespace chime::abi

#endif  // CHIME_ABI_RESOURCE_LIMITS_H_
