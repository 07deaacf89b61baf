// A PE whose operations are counted: counted_pe [rounds] [die <pe>|again|fork|rows|fail|hang], or
// two of them as threads: counted_pe <calls> threads <PE> <PE> <folder of all processes>. Prints
// nothing if all is well; run_test.py knows how many of each operation it makes. Operations that
// are noted are copies of their own: so their results are looked at, too.
#include <chime/chime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace exec = chime::exec;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

// One block of one thread, so that each operation is one event. In each round: 1 put_signal that
// sets, 1 signal_op that adds, 2 waits for them, 1 put, 1 p, 1 get, 1 g, 2 atomics, 1 wait_until
// for p's word, 1 fence, 1 quiet.
static CHIME_KERNEL void rounds_of_kernel(long* data, int* flag, uint64_t* signals, int rounds,
                                          int first) {
  const int me = chime_my_pe(), n = chime_n_pes(), right = (me + 1) % n;
  for (int i = first; i < first + rounds; ++i) {
    const uint64_t number = static_cast<uint64_t>(i) + 1;
    chime_long_put_signal(data, data + 8, 4, &signals[0], number, CHIME_SIGNAL_SET, right);
    chimex_signal_op(&signals[1], 1, CHIME_SIGNAL_ADD, right);
    chime_signal_wait_until(&signals[0], CHIME_CMP_GE, number);
    chime_signal_wait_until(&signals[1], CHIME_CMP_GE, number);
    chime_long_put(data + 16, data + 8, 2, right);
    chime_fence();
    chime_int_p(flag, static_cast<int>(number), right);
    chime_int_wait_until(flag, CHIME_CMP_GE, static_cast<int>(number));
    chime_long_get(data + 24, data, 2, right);
    data[26] = chime_long_g(data, right);
    chime_long_atomic_add(data + 32, 1, right);
    data[27] = chime_long_atomic_fetch_inc(data + 33, right);
    chime_quiet();
  }
}

// The PE's team meets once.
static CHIME_KERNEL void meet_in(chime_team_t team) { chime_barrier(team); }

namespace {

struct Memory {
  long* data = static_cast<long*>(chime_calloc(64, sizeof(long)));
  int* flag = static_cast<int*>(chime_calloc(1, sizeof(int)));
  uint64_t* signals = static_cast<uint64_t*>(chime_calloc(2, sizeof(uint64_t)));
};

const exec::LaunchConfig kOneThread{.grid = exec::dim3(1), .block = exec::dim3(1)};

void require_launched(int status) {
  if (status == CHIMEX_OK && exec::device_synchronize() == CHIMEX_OK) return;
  std::fprintf(stderr, "%s\n", exec::last_error());
  std::exit(1);
}

void run_kernel(const Memory& m, int rounds, int first) {
  require_launched(chime::collective_launch(kOneThread, rounds_of_kernel, m.data, m.flag, m.signals,
                                            rounds, first));
}

// Rows of two PEs.
void meet_by_rows() {
  chime_team_t row = CHIME_TEAM_INVALID, column = CHIME_TEAM_INVALID;
  chime_team_split_2d(CHIME_TEAM_WORLD, 2, nullptr, 0, &row, nullptr, 0, &column);
  require_launched(chime::collective_launch(kOneThread, meet_in, row));
}

// One that the timeline shows, and that waits for nobody.
void make_call() {
  int provided = 0;
  chime_query_thread(&provided);
}

void fork_a_child_that_calls() {
  const pid_t child = fork();
  if (child == 0) {
    make_call();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

void wait_in_vain(const Memory& m) {
  std::puts("waiting");
  std::fflush(stdout);
  chime_signal_wait_until(&m.signals[1], CHIME_CMP_EQ, 1u << 20);
}

void require(const char* what, long got, long wanted) {
  if (got == wanted) return;
  std::fprintf(stderr, "PE %d: %s: %ld, not %ld\n", chime_my_pe(), what, got, wanted);
  std::exit(1);
}

// What PE `pe` sends: element `i` of 4.
long sent(int pe, int i) { return 100 * pe + i + 1; }

void fill(const Memory& m) {
  long mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = sent(chime_my_pe(), i);
  exec::copy(m.data + 8, mine, sizeof mine);
}

// What the kernels of this PE and of its neighbours have left, when all are done.
void check(const Memory& m, int rounds) {
  long data[64];
  int flag = 0;
  uint64_t signals[2];
  exec::copy(data, m.data, sizeof data);
  exec::copy(&flag, m.flag, sizeof flag);
  exec::copy(signals, m.signals, sizeof signals);
  const int me = chime_my_pe(), left = (me + chime_n_pes() - 1) % chime_n_pes();
  for (int i = 0; i < 4; ++i) require("data of put_signal", data[i], sent(left, i));
  for (int i = 0; i < 2; ++i) require("data of put", data[16 + i], sent(left, i));
  require("word of signal_op", static_cast<long>(signals[1]), rounds);
  require("word of p", flag, rounds);
  if (rounds > 1) {  // in the first round they may come before the put_signal
    for (int i = 0; i < 2; ++i) require("what get brought", data[24 + i], sent(me, i));
    require("what g brought", data[26], sent(me, 0));
  }
  require("word of atomic_add", data[32], rounds);
  require("word of atomic_fetch_inc", data[33], rounds);
  require("what atomic_fetch_inc brought", data[27], rounds - 1);
}

// The host's own: 1 put_signal, 1 wait, 3 barriers, 1 reduction.
void life(int rounds, const std::string& mode, int victim) {
  chime_init();
  const Memory m;
  const int me = chime_my_pe(), right = (me + 1) % chime_n_pes();
  fill(m);
  run_kernel(m, rounds, 0);
  chime_barrier_all();
  check(m, rounds);
  if (mode == "die" && me == victim) std::raise(SIGKILL);
  if (mode == "rows") meet_by_rows();
  if (mode == "fork") fork_a_child_that_calls();
  if (mode == "fail" && me == victim) std::exit(3);
  if (mode == "hang") wait_in_vain(m);
  chime_long_put_signal(m.data, m.data + 8, 1, &m.signals[0], 1u << 20, CHIME_SIGNAL_SET, right);
  chime_signal_wait_until(&m.signals[0], CHIME_CMP_EQ, 1u << 20);
  chime_barrier_all();
  chime_long_sum_reduce(CHIME_TEAM_WORLD, m.data + 40, m.data + 41, 2);
  chime_barrier_all();
  chime_finalize();
}

// ---- Two PEs as threads of one process ----------------------------------------------------------

void await_file(const fs::path& file) {
  const auto end = std::chrono::steady_clock::now() + 300s;
  while (!fs::exists(file)) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "%s, which the other PE writes, is not there\n", file.c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(1ms);
  }
}

chimex_uniqueid_t id_of_job(const fs::path& file, bool is_made_here) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  if (is_made_here) {
    chimex_get_uniqueid(&id);
    std::ofstream(file.string() + ".new", std::ios::binary)
        .write(reinterpret_cast<char*>(&id), sizeof id);
    fs::rename(file.string() + ".new", file);
  }
  await_file(file);
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&id), sizeof id);
  return id;
}

// One of 4 PEs, which makes so many calls after the last barrier.
void live_in_thread(int pe, const chimex_uniqueid_t& id, int calls) {
  chimex_init_attr_t attributes = CHIMEX_INIT_ATTR_INITIALIZER;
  chimex_set_attr_uniqueid_args(pe, 4, &id, &attributes);
  require("init", chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attributes), CHIMEX_OK);
  chime_barrier_all();
  for (int i = 0; i < calls; ++i) make_call();
  chime_finalize();
}

// The part of the timeline is named after `first`, and `second` records for longer.
void live_in_threads(int first, int second, const fs::path& folder, int calls) {
  const chimex_uniqueid_t id = id_of_job(folder / "id", first == 0 || second == 0);
  std::thread one([&] { live_in_thread(first, id, 0); });
  await_file(std::getenv("CHIME_TRACE") + (".parts/pe" + std::to_string(first)));
  std::thread other([&] { live_in_thread(second, id, calls); });
  one.join();
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::string mode = argc > 2 ? argv[2] : "";
  if (mode == "threads") {
    live_in_threads(std::atoi(argv[3]), std::atoi(argv[4]), argv[5], rounds);
    return 0;
  }
  const int victim = argc > 3 ? std::atoi(argv[3]) : 0;
  life(rounds, mode, victim);
  if (mode == "again") life(rounds, "", 0);
}
