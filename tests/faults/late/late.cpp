// PE 1 comes to the second barrier of a kernel after the others have given it up. late_test.py
// reads the messages.
#include <chime/chime.h>
#include <unistd.h>

#include <cstdio>

namespace exec = chime::exec;

namespace {

CHIME_KERNEL void meet() { chime_barrier_all(); }

void launch_meeting() {
  exec::launch({}, meet);
  exec::device_synchronize();
}

}  // namespace

int main() {
  chime_init();
  launch_meeting();
  if (chime_my_pe() == 1) pause();  // until the launcher ends this process
  launch_meeting();
  std::printf("no PE waited for PE 1\n");
}
