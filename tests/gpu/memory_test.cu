// Loads, stores and copies of exec on a GPU: their widths, accesses that a compiler may not cache
// or drop, bulk copies, and the attributes that a launch must set.
#include <cstring>

#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

struct Words {
  std::uint8_t one[3];
  std::uint16_t two[3];
  std::uint32_t four[3];
  std::uint64_t eight[3];
  exec::Vec16 sixteen[3];
};

// Writes the middle word of each three, and no neighbour.
static CHIME_KERNEL void move_words(const Words* from, Words* to, Words* settled) {
  exec::st(&to->one[1], exec::ld(&from->one[1]));
  exec::st(&to->two[1], exec::ld(&from->two[1]));
  exec::st(&to->four[1], exec::ld(&from->four[1]));
  exec::st(&to->eight[1], exec::ld(&from->eight[1]));
  exec::st16(&to->sixteen[1], exec::ld16(&from->sixteen[1]));
  settled->four[1] = exec::ld_settled(&from->four[1]);
  settled->eight[1] = exec::ld_settled(&from->eight[1]);
  settled->sixteen[1] = exec::ld_settled(&from->sixteen[1]);
}

template <class T>
static bool middle_alone_is(const T (&words)[3], const T& value) {
  const T zero{};
  return std::memcmp(&words[1], &value, sizeof(T)) == 0 &&
         std::memcmp(&words[0], &zero, sizeof(T)) == 0 &&
         std::memcmp(&words[2], &zero, sizeof(T)) == 0;
}

static void words_of_each_width_are_moved_whole() {
  Words words;
  for (std::size_t i = 0; i < sizeof words; ++i)
    reinterpret_cast<unsigned char*>(&words)[i] = static_cast<unsigned char>(i * 7 + 1);
  Result<Words> from, to, settled;
  CHIME_NEED(exec::copy(from.device(), &words, sizeof words) == CHIMEX_OK);
  CHIME_NEED(exec::launch({}, move_words, from.device(), to.device(), settled.device()) ==
             CHIMEX_OK);
  const Words moved = to.read(), loaded = settled.read();
  CHIME_CHECK(middle_alone_is(moved.one, words.one[1]));
  CHIME_CHECK(middle_alone_is(moved.two, words.two[1]));
  CHIME_CHECK(middle_alone_is(moved.four, words.four[1]));
  CHIME_CHECK(middle_alone_is(moved.eight, words.eight[1]));
  CHIME_CHECK(middle_alone_is(moved.sixteen, words.sixteen[1]));
  CHIME_CHECK(middle_alone_is(loaded.four, words.four[1]));
  CHIME_CHECK(middle_alone_is(loaded.eight, words.eight[1]));
  CHIME_CHECK(middle_alone_is(loaded.sixteen, words.sixteen[1]));
}

// A loop with only a volatile load sees the other thread's store. The number of its turns is
// bounded.
struct Mailbox {
  std::uint64_t question, answer;
  unsigned arrived[2];
};
static CHIME_KERNEL void ask_and_answer(Mailbox* box) {
  constexpr unsigned kTurns = 1u << 24;
  const bool asks = exec::thread_rank() == 0;
  if (!asks && exec::thread_rank() != 32) return;
  const std::uint64_t* const awaited = asks ? &box->answer : &box->question;
  if (asks) exec::st_volatile(&box->question, 5);
  unsigned turn = 0;
  while (turn < kTurns && exec::ld_volatile(awaited) == 0) ++turn;
  if (!asks) exec::st_volatile(&box->answer, 6);
  box->arrived[asks] = turn < kTurns;
}
static void a_volatile_load_in_a_loop_is_made_each_time() {
  Result<Mailbox> box;
  CHIME_NEED(exec::launch({.block = exec::dim3(64)}, ask_and_answer, box.device()) == CHIMEX_OK);
  CHIME_CHECK(box.read().arrived[0] == 1);
  CHIME_CHECK(box.read().arrived[1] == 1);
}

struct Times {
  std::uint64_t ns[2], cycles[2];
};
static CHIME_KERNEL void look_at_clocks(Times* seen) {
  const std::uint64_t start = exec::clock_ns(), first = exec::clock();
  exec::nanosleep(1000);
  std::uint64_t now = exec::clock_ns();
  for (unsigned turn = 0; now - start < 100'000 && turn < 1u << 24; ++turn) now = exec::clock_ns();
  *seen = {{start, now}, {first, exec::clock()}};
}
static void time_passes() {
  Result<Times> times;
  CHIME_NEED(exec::launch({}, look_at_clocks, times.device()) == CHIMEX_OK);
  const Times seen = times.read();
  CHIME_CHECK(seen.ns[1] - seen.ns[0] >= 100'000);
  CHIME_CHECK(seen.cycles[1] > seen.cycles[0]);
}

// ---- Bulk copies -------------------------------------------------------------------------------

static constexpr unsigned kTile = 4096;  // words

struct Tiles {
  alignas(16) std::uint32_t in[kTile];
  alignas(16) std::uint32_t out[kTile];
  unsigned was_early;
};
static CHIME_KERNEL void add_one_by_tile(Tiles* tiles) {
  CHIME_SHARED_VAR(exec::Mbarrier, arrived);
  CHIME_DYNAMIC_SHARED(std::uint32_t, tile);
  const bool copies = exec::thread_rank() == 0;
  if (copies) exec::mbarrier_init(&arrived, 1);
  exec::sync_block();
  if (copies) {
    tiles->was_early = exec::mbarrier_try_wait(&arrived, 0);
    exec::mbarrier_expect_tx(&arrived, kTile * 4);
    exec::bulk_to_shared(tile, tiles->in, kTile * 4, &arrived);
  }
  for (unsigned turn = 0; !exec::mbarrier_try_wait(&arrived, 0) && turn < 1u << 20; ++turn)
    exec::pause();
  for (unsigned i = exec::thread_rank(); i < kTile; i += exec::block_threads()) tile[i] += 1;
  exec::sync_block();
  if (!copies) return;
  exec::bulk_from_shared(tiles->out, tile, kTile * 4);
  exec::bulk_commit();
  exec::bulk_wait_all();
  // Written, and not only read: the thread that waited reads the copy, and changes its source.
  tiles->in[0] = tiles->out[0];
}
static void a_tile_is_there_when_it_was_waited_for() {
  Result<Tiles> result;
  static Tiles tiles;
  for (unsigned i = 0; i < kTile; ++i) tiles.in[i] = 3 * i + 7;
  CHIME_NEED(exec::copy(result.device(), &tiles, sizeof tiles) == CHIMEX_OK);
  CHIME_NEED(exec::launch({.block = exec::dim3(128), .shared_bytes = kTile * 4}, add_one_by_tile,
                          result.device()) == CHIMEX_OK);
  tiles = result.read();
  unsigned wrong = 0;
  for (unsigned i = 0; i < kTile; ++i) wrong += tiles.out[i] != 3 * i + 8;
  CHIME_CHECK(wrong == 0);
  CHIME_CHECK(tiles.in[0] == 8);
  CHIME_CHECK(tiles.was_early == 0);
}

// ---- Launches ----------------------------------------------------------------------------------

static CHIME_KERNEL void use_all(unsigned* last, unsigned words) {
  CHIME_DYNAMIC_SHARED(unsigned, memory);
  memory[words - 1] = 12;
  *last = memory[words - 1];
}
static void a_kernel_has_as_much_shared_memory_as_the_device() {
  exec::DeviceProps props;
  CHIME_NEED(exec::device_props(0, &props) == CHIMEX_OK);
  const std::size_t bytes = props.shared_bytes_per_block;
  CHIME_CHECK(bytes > 48 * 1024);
  Result<unsigned> last;
  CHIME_CHECK(exec::launch({.shared_bytes = bytes}, use_all, last.device(),
                           static_cast<unsigned>(bytes / 4)) == CHIMEX_OK);
  CHIME_CHECK(last.read() == 12);
  CHIME_CHECK(exec::launch({.shared_bytes = bytes + 1}, use_all, last.device(), 1) ==
              CHIMEX_ERR_LAUNCH);
}

int main() {
  need_gpu();
  words_of_each_width_are_moved_whole();
  a_volatile_load_in_a_loop_is_made_each_time();
  time_passes();
  a_tile_is_there_when_it_was_waited_for();
  a_kernel_has_as_much_shared_memory_as_the_device();
  return verdict();
}
