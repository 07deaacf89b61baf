// A kernel that waits for one that was never launched before, where the driver loads kernels at
// their first launch (CUDA_MODULE_LOADING=LAZY): chime_init has loaded both.
#include "chime/chime.h"
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

struct Words {
  std::uint64_t word, arrived;
};

static CHIME_KERNEL void wait_for(Words* words) { words->arrived = await_word(&words->word, 1); }
static CHIME_KERNEL void write_to(Words* words) {
  exec::st<exec::Order::kRelease, exec::Scope::kSystem>(&words->word, 1);
}

int main() {
  need_gpu();
  chime_init();
  CHIME_NEED(chimex_init_device() == CHIMEX_OK);
  Result<Words> words;
  exec::Stream waiting, writing;
  CHIME_NEED(exec::stream_create(&waiting) == CHIMEX_OK);
  CHIME_NEED(exec::stream_create(&writing) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = waiting}, wait_for, words.device()) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = writing}, write_to, words.device()) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(writing) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(waiting) == CHIMEX_OK);
  CHIME_CHECK(words.read().arrived == 1);
  exec::stream_destroy(waiting);
  exec::stream_destroy(writing);
  chime_finalize();
  return verdict();
}
