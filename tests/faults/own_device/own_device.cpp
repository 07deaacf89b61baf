// A PE whose own NIC vanishes while it is in a call: own_device <case>. PE 0 stays away and sleeps,
// so that only the notification of its own device ends PE 1's call. own_device_test.py starts it.
//
//   host_wait, kernel_wait        for a word that is never written
//   host_quiet, kernel_quiet      puts and quiet, again and again
//   host_get, kernel_get          gets
//   host_barrier, kernel_barrier  to which PE 0 does not come
//   host_barrier, kernel_barrier  which PE 0 does not reach
#include <chime/chime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace exec = chime::exec;

namespace {

constexpr int kPeer = 0, kVictim = 1;
constexpr char kVanishes[] = "vanish:us=4000000";  // after init, and while PE 1 is in its call

CHIME_HOST_DEVICE void wait(std::uint64_t* words) {
  chime_signal_wait_until(words, CHIME_CMP_EQ, 1);
}
CHIME_HOST_DEVICE void put(std::uint64_t* words) {
  for (;;) {
    chime_uint64_p(words + 1, 1, kPeer);
    chime_quiet();
  }
}
CHIME_HOST_DEVICE void get(std::uint64_t* words) {
  for (;;) words[1] = chime_uint64_g(words + 2, kPeer);
}
CHIME_HOST_DEVICE void meet(std::uint64_t*) { chime_barrier_all(); }

template <void (*kBody)(std::uint64_t*)>
CHIME_KERNEL void in_kernel(std::uint64_t* words) {
  kBody(words);
}

// The next call reports the kernel's error.
template <void (*kBody)(std::uint64_t*)>
void launch(std::uint64_t* words) {
  exec::launch({}, in_kernel<kBody>, words);
  exec::device_synchronize();
  chime_quiet();
}

void run(const std::string& what, std::uint64_t* words) {
  if (what == "host_wait") wait(words);
  if (what == "host_quiet") put(words);
  if (what == "host_get") get(words);
  if (what == "host_barrier") meet(words);
  if (what == "kernel_wait") launch<wait>(words);
  if (what == "kernel_quiet") launch<put>(words);
  if (what == "kernel_get") launch<get>(words);
  if (what == "kernel_barrier") launch<meet>(words);
  if (what == "malloc") chime_malloc(64);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const pe = std::getenv("CHIME_RUN_PE");
  if (argc != 2 || pe == nullptr) return 2;
  if (std::atoi(pe) == kVictim) setenv("SOFTNIC_FAULTS", kVanishes, 1);
  chime_init();
  auto* const words = static_cast<std::uint64_t*>(chime_calloc(4, sizeof(std::uint64_t)));
  if (chime_my_pe() == kVictim) {
    run(argv[1], words);
    std::printf("PE %d came to the end of its call\n", kVictim);
    return 3;
  }
  sleep(100);
}
