#include "proxies.hpp"

#include <fmt/format.h>

#include "proxy/counts/counts_file.hpp"

namespace chime::info {

int print_proxies(std::optional<pid_t> process) {
  const auto found = process ? proxy::counts_of(*process) : proxy::all_counts();
  for (const proxy::FoundCounts& one : found)
    fmt::print("PE {} (process {}): {}\n", one.counts().pe, one.process,
               proxy::words_of(one.counts()));
  if (!found.empty()) return 0;
  if (process)
    fmt::print("process {} has no proxy, or is not one that this user may look at\n", *process);
  else
    fmt::print("no PE that this user may look at has a proxy on this machine\n");
  return 1;
}

}  // namespace chime::info
