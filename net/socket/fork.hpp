// Descriptors that a child of fork() does not share.
//
// The other end of a connection learns of this process's death because the kernel closes its
// sockets. A child that fork() made without exec (Python's multiprocessing does so) has copies of
// them, which close-on-exec leaves open. The copies would keep the connection, and hide the death,
// for as long as the child lives. So in the child each such number is replaced, before fork()
// returns there, by an eventfd that leads nowhere. The child may close the number, as its copies of
// this process's objects do, and closes nobody else's file.
//
// Not covered: a child made by a bare clone system call or _Fork, where no handler runs.
#pragma once

#include <mutex>

#include "net/socket/descriptor.hpp"

namespace chime::net {

// Held while such a descriptor is made or closed, and over fork(): no child can see one in between.
std::mutex& fork_mutex();

// Notes `fd`, with fork_mutex() held.
void replace_in_children(int fd);

// Closes what opened_for_this_process opened.
void close_for_this_process(int fd);

// Keeps a new descriptor from children of fork(). `open` returns it, or -1 with errno, and must not
// block.
template <class Open>
Descriptor opened_for_this_process(Open open) {
  std::lock_guard lock(fork_mutex());
  const int fd = open();
  if (fd >= 0) replace_in_children(fd);
  return Descriptor(fd, Descriptor::InChild::kReplaced);
}

}  // namespace chime::net
