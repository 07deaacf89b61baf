// Two kernels on two streams that wait for each other, streams that wait for words, and a grid that
// meets.
#include <atomic>
#include <chrono>
#include <thread>

#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;
using exec::Order;
using exec::Scope;

static constexpr std::uint64_t kTurns = 1000;

// Writes its rounds into `mine` and waits for the other kernel's in `theirs`.
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

// As PEs that are threads of one process do: each on its own default stream, which must not be the
// other's.
static void default_streams_of_two_threads_meet() {
  struct Words {
    std::uint64_t a, b, done_a, done_b;
  };
  Result<Words> words;
  Words* const w = words.device();
  const auto play_on_own = [](auto... arguments) {
    return std::thread([=] {
      CHIME_CHECK(exec::launch({}, play, arguments...) == CHIMEX_OK);
      CHIME_CHECK(exec::stream_synchronize({}) == CHIMEX_OK);
    });
  };
  std::thread first = play_on_own(&w->a, &w->b, true, &w->done_a);
  std::thread second = play_on_own(&w->b, &w->a, false, &w->done_b);
  first.join();
  second.join();
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

static CHIME_KERNEL void note(unsigned* word) { *word = 1; }

// Streams of exec do not wait for CUDA's null stream: otherwise two kernels that wait for each
// other would not both run.
static void a_stream_does_not_wait_for_the_null_stream() {
  static std::atomic<bool> may_end, gave_up;
  may_end = gave_up = false;
  const auto null_stream = reinterpret_cast<exec::Stream>(1);  // cudaStreamLegacy
  const auto wait = [](void*) {
    for (int i = 0; !may_end && i < 500; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    gave_up = !may_end;
  };
  Result<unsigned> word;
  exec::Stream stream;
  CHIME_NEED(exec::stream_create(&stream) == CHIMEX_OK);
  CHIME_NEED(exec::stream_host_call(null_stream, wait, nullptr) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.stream = stream}, note, word.device()) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(stream) == CHIMEX_OK);
  may_end = true;
  CHIME_CHECK(exec::stream_synchronize(null_stream) == CHIMEX_OK);
  CHIME_CHECK(!gave_up);
  CHIME_CHECK(word.read() == 1);
  exec::stream_destroy(stream);
}

// A stream waits until a word is ">=" a value, modulo 2^64, not only for equality: writers may be
// ahead.
static void a_stream_waits_until_a_word_is_reached() {
  struct Words {
    std::uint64_t word, copied;
  };
  Result<Words> words;
  Words* const w = words.device();
  exec::Stream waiting, writing;
  CHIME_NEED(exec::stream_create(&waiting) == CHIMEX_OK);
  CHIME_NEED(exec::stream_create(&writing) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_write64(writing, &w->word, 9) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(writing) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_wait64_geq(waiting, &w->word, 7) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_wait64_geq(waiting, &w->word, 8) == CHIMEX_OK);
  CHIME_CHECK(exec::copy_async(&w->copied, &w->word, 8, waiting) == CHIMEX_OK);
  for (int i = 0; i < 500 && words.read().copied == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHIME_CHECK(words.read().copied == 9);
  for (const std::uint64_t value : {7, 8})  // by either implementation of the wait
    CHIME_CHECK(exec::stream_write64(writing, &w->word, value) == CHIMEX_OK &&
                exec::stream_synchronize(writing) == CHIMEX_OK);
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
  default_streams_of_two_threads_meet();
  a_stream_does_not_wait_for_the_null_stream();
  a_stream_waits_until_a_word_is_reached();
  a_kernel_sees_a_later_stream_write();
  grid_sync_waits_for_all_blocks();
  return verdict();
}
