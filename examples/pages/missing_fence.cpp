// A fence is missing between data and signal; weak mode shows it (docs/find-your-bug.md).
#include <chime/chime.h>

#include <cstdio>

namespace exec = chime::exec;

constexpr int kNumbers = 64, kRounds = 200;

// PE 0 sends numbers, then a flag. PE 1 waits for the flag and looks for numbers that have not
// come.
static CHIME_KERNEL void send_then_flag(long* inbox, long* numbers, uint64_t* flag,
                                        uint64_t* acknowledged, unsigned* stale) {
  for (int round = 1; round <= kRounds; ++round) {
    if (chime_my_pe() == 0) {
      for (int i = 0; i < kNumbers; ++i) numbers[i] = round;
      chime_long_put(inbox, numbers, kNumbers, 1);
      chimex_signal_op(flag, round, CHIME_SIGNAL_SET, 1);  // wrong: no chime_fence() before it
      chime_signal_wait_until(acknowledged, CHIME_CMP_GE, round);
    } else if (chime_my_pe() == 1) {
      chime_signal_wait_until(flag, CHIME_CMP_GE, round);
      for (int i = 0; i < kNumbers; ++i) *stale += inbox[i] != round;
      chimex_signal_op(acknowledged, round, CHIME_SIGNAL_SET, 0);
    }
  }
}

int main() {
  chime_init();
  auto* inbox = static_cast<long*>(chime_calloc(kNumbers, sizeof(long)));
  auto* numbers = static_cast<long*>(chime_calloc(kNumbers, sizeof(long)));
  auto* flag = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  auto* acknowledged = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  auto* stale = static_cast<unsigned*>(chime_calloc(1, sizeof(unsigned)));

  if (chime::collective_launch({}, send_then_flag, inbox, numbers, flag, acknowledged, stale) !=
      CHIMEX_OK)
    return 1;
  if (exec::device_synchronize() != CHIMEX_OK) return 1;

  unsigned count = 0;
  exec::copy(&count, stale, sizeof count);
  if (chime_my_pe() == 1) std::printf("%u numbers were stale\n", count);
  chime_finalize();
}
