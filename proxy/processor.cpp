#include "proxy/processor.hpp"

#include <sched.h>

#include <cstddef>

namespace chime::proxy {
namespace {

// REQUIRES: some are in it.
int next_of(const cpu_set_t& all, int cpu) {
  do cpu = (cpu + 1) % CPU_SETSIZE;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &all));
  return cpu;
}

}  // namespace

int processors_of_thread() {
  cpu_set_t mine;
  return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

bool leave_processor() {
  cpu_set_t all, next;
  const int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return false;
  CPU_ZERO(&next);
  CPU_SET(static_cast<std::size_t>(next_of(all, here)), &next);
  if (sched_setaffinity(0, sizeof next, &next) != 0) return false;
  if (sched_setaffinity(0, sizeof all, &all) == 0) return true;
  // The set of allowed processors has changed meanwhile: allow all that the thread may use now.
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all);
  return true;
}

}  // namespace chime::proxy
