#include "net/socket/descriptor.hpp"

#include <unistd.h>

#include "net/socket/fork.hpp"

namespace chime::net {

void Descriptor::reset() {
  if (fd_ < 0) return;
  const int fd = std::exchange(fd_, -1);
  if (in_child_ == InChild::kReplaced)
    close_for_this_process(fd);
  else
    ::close(fd);
}

}  // namespace chime::net
