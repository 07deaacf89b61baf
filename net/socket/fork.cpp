#include "net/socket/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <set>

namespace chime::net {
namespace {

// Never destroyed: a fork may come after static destructors.
struct Kept {
  std::mutex mutex;
  std::set<int> descriptors;
};

Kept& kept() {
  static Kept* const all = new Kept;
  return *all;
}

// In the child, whose only thread is this one. Allocates nothing; only system calls.
void replace_all() {
  const int nowhere = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int fd : kept().descriptors)
    if (nowhere < 0 || dup3(nowhere, fd, O_CLOEXEC) < 0) ::close(fd);
  if (nowhere >= 0) ::close(nowhere);
}

void register_handlers() {
  static const bool is_done = [] {
    pthread_atfork([] { kept().mutex.lock(); }, [] { kept().mutex.unlock(); },
                   [] {
                     replace_all();
                     kept().mutex.unlock();
                   });
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace

std::mutex& fork_mutex() {
  register_handlers();
  return kept().mutex;
}

void replace_in_children(int fd) { kept().descriptors.insert(fd); }

// errno stays the caller's.
void close_for_this_process(int fd) {
  const int error = errno;
  std::lock_guard lock(kept().mutex);
  kept().descriptors.erase(fd);
  ::close(fd);
  errno = error;
}

}  // namespace chime::net
