// A source is written again before its put has read it; the emulated NIC shows it
// (docs/find-your-bug.md).
#include <chime/chime.h>

#include <cstdio>

namespace exec = chime::exec;

constexpr int kRounds = 16, kNumbers = 4096;

// PE 0 sends each round's number, many times, out of one source to a place of the round.
static CHIME_KERNEL void send_rounds(int* inbox, int* source) {
  if (chime_my_pe() != 0) return;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kNumbers; ++i)
      source[i] = round;  // wrong: no chime_quiet() since the last put_nbi
    chime_int_put_nbi(inbox + round * kNumbers, source, kNumbers, 1);
  }
  chime_quiet();
}

int main() {
  chime_init();
  auto* inbox = static_cast<int*>(chime_calloc(kRounds * kNumbers, sizeof(int)));
  auto* source = static_cast<int*>(chime_malloc(kNumbers * sizeof(int)));

  if (exec::launch({}, send_rounds, inbox, source) != CHIMEX_OK) return 1;
  if (exec::device_synchronize() != CHIMEX_OK) return 1;
  chime_barrier_all();

  static int got[kRounds * kNumbers];
  exec::copy(got, inbox, sizeof got);
  int overwritten = 0;
  for (int i = 0; i < kRounds * kNumbers; ++i) overwritten += got[i] != i / kNumbers;
  if (chime_my_pe() == 1)
    std::printf("%d of %d numbers were overwritten before they were sent\n", overwritten,
                kRounds * kNumbers);
  chime_finalize();
}
