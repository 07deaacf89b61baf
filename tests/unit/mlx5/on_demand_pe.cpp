// PEs that no memory connects; their NICs connect at the first touch, or all of them at init. The
// argument selects their operations.
#define CHIME_HOST_ONLY
#include <chime/chime.h>

#include <cstdio>
#include <cstring>

namespace {

int* words = nullptr;  // [n_pes], symmetric

// To the right alone, all at once: each pair is opened from one end, the last two from both.
void ring() {
  const int me = chime_my_pe(), n = chime_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
  chime_int_p(words + me, 100 + me, right);
  chime_barrier_all();
  if (words[left] != 100 + left) std::printf("PE %d: wrong\n", me);
}

// PE 0 touches the others in turn.
void all_in_turn() {
  if (chime_my_pe() == 0)
    for (int pe = 1; pe < chime_n_pes(); ++pe) chime_int_p(words, 1, pe);
}

// Both ends of each pair at the same time, and back.
void all_at_once() {
  const int me = chime_my_pe(), n = chime_n_pes();
  for (int i = 1; i < n; ++i) chime_int_p(words + me, 100 + me, (me + i) % n);
  chime_barrier_all();
  for (int pe = 0; pe < n; ++pe)
    if (pe != me && words[pe] != 100 + pe) std::printf("PE %d: wrong\n", me);
  for (int pe = 0; pe < n; ++pe)
    if (n > 1 && chime_int_g(words + (pe + 1) % n, pe) != 100 + (pe + 1) % n)
      std::printf("PE %d: wrong back from %d\n", me, pe);
}

// Each PE's words, also its own.
void add() {
  constexpr int kTimes = 50;
  const int n = chime_n_pes();
  for (int i = 0; i < kTimes; ++i)
    for (int pe = 0; pe < n; ++pe) chime_int_atomic_inc(words, (pe + chime_my_pe()) % n);
  chime_barrier_all();
  if (words[0] != n * kTimes)
    std::printf("PE %d: wrong, %d of %d additions\n", chime_my_pe(), words[0], n * kTimes);
}

}  // namespace

int main(int, char** arguments) {
  chime_init();
  words = static_cast<int*>(chime_calloc(static_cast<std::size_t>(chime_n_pes()), sizeof(int)));
  if (std::strcmp(arguments[1], "ring") == 0) ring();
  if (std::strcmp(arguments[1], "all_in_turn") == 0) all_in_turn();
  if (std::strcmp(arguments[1], "all_at_once") == 0) all_at_once();
  if (std::strcmp(arguments[1], "add") == 0) add();
  chime_barrier_all();
  chime_finalize();
}
