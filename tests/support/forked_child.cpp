// A source of programs with threads whose forked children end by exit().
//
// LeakSanitizer takes all locks of the allocator at exit, and a lock that another thread held
// during fork() is never released in the child: neither gcc 12 nor clang 14 takes these locks
// before a fork. Such a child may hang, so it does not check for leaks; its parent does.
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

namespace {
const pid_t program = getpid();
}

// Visible: the sanitizer's library calls it.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return getpid() != program;
}
