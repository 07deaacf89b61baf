// A user's program with a kernel: each PE puts its number into its right neighbour.
#include <chime/chime.h>

#include <cstdio>

static CHIME_KERNEL void put_number(int* slot) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chime_int_p(slot, 100 + chime_my_pe(), right);
  chime_quiet();
}

int main() {
  chime_init();
  int* slot = static_cast<int*>(chime_calloc(1, sizeof(int)));
  if (chime::exec::launch({}, put_number, slot) != CHIMEX_OK) return 1;
  if (chime::exec::device_synchronize() != CHIMEX_OK) return 1;
  chime_barrier_all();

  int got = 0;
  if (chime::exec::copy(&got, slot, sizeof(got)) != CHIMEX_OK) return 1;
  const int left = (chime_my_pe() + chime_n_pes() - 1) % chime_n_pes();
  std::printf("PE %d of %d got %d\n", chime_my_pe(), chime_n_pes(), got);
  chime_free(slot);
  chime_finalize();
  return got == 100 + left ? 0 : 1;
}
