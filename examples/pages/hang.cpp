// A wait for a signal that nobody sends; chime-run's time limit shows it (docs/find-your-bug.md).
#include <chime/chime.h>

namespace exec = chime::exec;

// PE 0 sends signal 1. PE 1 waits for signal 2, which nobody sends.
static CHIME_KERNEL void one_signal_too_few(uint64_t* signal) {
  if (chime_my_pe() == 0) chimex_signal_op(signal, 1, CHIME_SIGNAL_SET, 1);
  if (chime_my_pe() == 1) chime_signal_wait_until(signal, CHIME_CMP_GE, 2);
}

int main() {
  chime_init();
  auto* signal = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  if (exec::launch({}, one_signal_too_few, signal) != CHIMEX_OK) return 1;
  if (exec::device_synchronize() != CHIMEX_OK) return 1;
  chime_finalize();
}
