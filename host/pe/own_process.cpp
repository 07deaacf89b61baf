#include "host/pe/own_process.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

constinit std::atomic<std::uint32_t> unclaimed{1};

// The kernel wipes it whenever a process is copied: by fork(), by _Fork and by a bare clone system
// call, for which no handler runs. vfork() and posix_spawn() copy nothing.
std::atomic<std::uint32_t>* make_mark() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw system_error("setup", "cannot map a page");
  // Where the kernel cannot do it (before Linux 4.14), the handler sees at least fork().
  static_cast<void>(madvise(memory, page, MADV_WIPEONFORK));
  return new (memory) std::atomic<std::uint32_t>(0);
}

std::atomic<std::uint32_t>& own_mark() {
  static auto* const mark = make_mark();
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { own_mark().store(0, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return *mark;
}

}  // namespace

namespace own_process {

constinit std::atomic<const std::atomic<std::uint32_t>*> mark{&unclaimed};

}  // namespace own_process

void claim_process() {
  own_mark().store(1, std::memory_order_relaxed);
  // Release: the page is mapped. Pairs with the acquire in is_own_process.
  own_process::mark.store(&own_mark(), std::memory_order_release);
}

}  // namespace chime::host
