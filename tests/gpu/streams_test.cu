// Two kernels on two streams that wait for each other, and a kernel that waits for the host.
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;
using exec::Order;
using exec::Scope;

static constexpr std::uint64_t kTurns = 1000;

// Writes its turns into `mine` and waits for the other kernel's in `theirs`.
static CHIME_KERNEL void play(std::uint64_t* mine, const std::uint64_t* theirs, bool first,
                              std::uint64_t* turns_done) {
  for (std::uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (first) exec::st<Order::kRelease, Scope::kSystem>(mine, turn);
    if (!await_word(theirs, turn)) return;
    if (!first) exec::st<Order::kRelease, Scope::kSystem>(mine, turn);
    *turns_done = turn;
  }
}

static void two_streams_meet() {
  struct Words {
    std::uint64_t a, b, done_a, done_b;
  };
  Result<Words> words;
  Words* const w = words.device();
  exec::Stream streams[2];
  for (exec::Stream& stream : streams) CHIME_NEED(exec::stream_create(&stream) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = streams[0]}, play, &w->a, &w->b, true, &w->done_a) ==
              CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = streams[1]}, play, &w->b, &w->a, false, &w->done_b) ==
              CHIMEX_OK);
  for (exec::Stream stream : streams) {
    CHIME_CHECK(exec::stream_synchronize(stream) == CHIMEX_OK);
    exec::stream_destroy(stream);
  }
  CHIME_CHECK(words.read().done_a == kTurns);
  CHIME_CHECK(words.read().done_b == kTurns);
}

static CHIME_KERNEL void wait_for_stream_write(const std::uint64_t* word, std::uint64_t* arrived) {
  *arrived = await_word(word, 7);
}

// The write is queued on another stream after the kernel has started.
static void a_kernel_sees_a_later_stream_write() {
  struct Words {
    std::uint64_t word, arrived;
  };
  Result<Words> words;
  Words* const w = words.device();
  exec::Stream waiting, writing;
  CHIME_NEED(exec::stream_create(&waiting) == CHIMEX_OK);
  CHIME_NEED(exec::stream_create(&writing) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = waiting}, wait_for_stream_write, &w->word, &w->arrived) ==
              CHIMEX_OK);
  CHIME_CHECK(exec::stream_write64(writing, &w->word, 7) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(waiting) == CHIMEX_OK);
  CHIME_CHECK(words.read().arrived == 1);
  exec::stream_destroy(waiting);
  exec::stream_destroy(writing);
}

static CHIME_KERNEL void count_blocks_at_grid_sync(unsigned* arrived, unsigned* wrong) {
  for (unsigned round = 1; round <= 100; ++round) {
    if (exec::thread_rank() == 0) exec::red_add<Order::kRelaxed, Scope::kDevice>(arrived, 1u);
    exec::sync_grid();
    const unsigned seen = exec::ld<Order::kRelaxed, Scope::kDevice>(arrived);
    if (seen != round * exec::grid_blocks())
      exec::red_add<Order::kRelaxed, Scope::kDevice>(wrong, 1u);
    exec::sync_grid();
  }
}

static void grid_sync_waits_for_all_blocks() {
  struct Words {
    unsigned arrived, wrong;
  };
  Result<Words> words;
  int blocks = 0;
  CHIME_NEED(exec::max_cooperative_blocks(count_blocks_at_grid_sync, 128, 0, &blocks) == CHIMEX_OK);
  exec::LaunchConfig config;
  config.grid = exec::dim3(blocks);
  config.block = exec::dim3(128);
  config.cooperative = true;
  CHIME_CHECK(exec::launch(config, count_blocks_at_grid_sync, &words.device()->arrived,
                           &words.device()->wrong) == CHIMEX_OK);
  const Words seen = words.read();
  CHIME_CHECK(seen.arrived == 100u * blocks);
  CHIME_CHECK(seen.wrong == 0);
}

int main() {
  need_gpu();
  two_streams_meet();
  a_kernel_sees_a_later_stream_write();
  grid_sync_waits_for_all_blocks();
  return verdict();
}
