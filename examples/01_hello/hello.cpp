// Hello: a kernel on each PE puts its number into the memory of its right neighbour.
#include <chime/chime.h>

#include <cstdio>

namespace exec = chime::exec;

static CHIME_KERNEL void greet(int* greeting) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chime_int_p(greeting, chime_my_pe(), right);
  chime_quiet();  // the put is complete, not only in flight, when the kernel ends
}

int main() {
  chime_init();
  const int me = chime_my_pe(), n = chime_n_pes();

  // Symmetric memory: the same address, here, names this PE's copy and, in a put, the neighbour's.
  int* greeting = static_cast<int*>(chime_calloc(1, sizeof(int)));

  int status = exec::launch({}, greet, greeting);  // one block of one thread
  if (status == CHIMEX_OK) status = exec::device_synchronize();
  chimex_async_error_t error{};  // a kernel that failed completes, too: so ask
  if (status == CHIMEX_OK) status = chimex_get_async_error(&error);
  if (status == CHIMEX_OK) status = error.status;
  chime_barrier_all();  // all PEs' kernels have ended, so my greeting has arrived

  int from = -1;
  if (status == CHIMEX_OK) status = exec::copy(&from, greeting, sizeof(from));
  const int left = (me + n - 1) % n;
  const bool right_answer = status == CHIMEX_OK && from == left;
  if (right_answer) {
    std::printf("PE %d of %d: hello from PE %d\n", me, n, from);
  } else {
    std::fprintf(stderr, "PE %d of %d: expected a greeting from PE %d, got %d (%s)\n", me, n, left,
                 from, chimex_status_string(status));
  }
  chime_free(greeting);
  chime_finalize();
  return right_answer ? 0 : 1;
}
