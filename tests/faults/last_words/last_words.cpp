// A PE that fails in the way named on its command line. last_words_test.py starts jobs of these and
// reads their messages.
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

namespace exec = chime::exec;

namespace {

CHIME_KERNEL void write_nowhere(volatile int* nowhere) {
  if (exec::thread_rank() == 3 && chime_my_pe() == 1) *nowhere = 1;
}

void faults_in_a_kernel() {
  chime_init();
  exec::launch({.grid = 1, .block = 8}, write_nowhere, reinterpret_cast<volatile int*>(16));
  exec::device_synchronize();
  chime_finalize();
}

// ---- The end of a job that hangs: each PE in another call ---------------------------------------

CHIME_KERNEL void poll_a_flag(const int* flag) {
  using exec::Order;
  using exec::Scope;
  if (exec::grid_rank() == 0) {
    while (exec::ld<Order::kAcquire, Scope::kSystem>(flag) == 0) {
    }
  }
  exec::sync_block();
}

CHIME_KERNEL void spin_on_a_flag(const volatile int* flag) {
  if (exec::thread_rank() == 5) {
    while (*flag == 0) {
    }
  }
  exec::sync_warp();
}

// The first thread waits for a signal, the second for a word of 4 bytes in the next signal's place.
CHIME_KERNEL void wait_for_a_signal(uint64_t* signals) {
  if (exec::thread_rank() == 0) chime_signal_wait_until(signals, CHIME_CMP_GE, 4);
  int* const word = reinterpret_cast<int*>(signals + 1);
  *word = -3;
  chime_int_wait_until(word, CHIME_CMP_EQ, -1);
}

CHIME_KERNEL void meet_whole_grid(const int* flag) {
  using exec::Order;
  using exec::Scope;
  while (exec::block_rank() == 1 && exec::ld<Order::kAcquire, Scope::kSystem>(flag) == 0) {
  }
  exec::sync_grid();
}

void end_by_its_own_handler(int) {
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, "my own handler\n", 15);
  _exit(0);
}

void hangs() {
  signal(SIGTERM, SIG_DFL);
  chime_init();
  auto* words = static_cast<uint64_t*>(chime_calloc(64, sizeof(uint64_t)));
  auto* flag = reinterpret_cast<int*>(words);
  std::puts("answers from now on");
  std::fflush(stdout);
  switch (chime_my_pe()) {
    case 0:
      chime_barrier_all();
      break;
    case 1:
      exec::launch({.grid = 2, .block = 64}, poll_a_flag, flag);
      exec::device_synchronize();
      break;
    case 2:
      exec::launch({.grid = 1, .block = 32}, spin_on_a_flag, flag);
      chime_finalize();
      break;
    case 3:
      exec::launch({.grid = 1, .block = 2}, wait_for_a_signal, words);
      chime_signal_wait_until(words, CHIME_CMP_GE, 4);
      break;
    case 4:
      exec::launch({.grid = 3, .block = 8, .cooperative = true}, meet_whole_grid, flag);
      exec::stream_synchronize({});
      break;
    case 5:
      signal(SIGTERM, end_by_its_own_handler);
      exec::stream_wait64_geq({}, words, 1);
      for (;;) pause();
    case 6:
      raise(SIGSTOP);
  }
}

// ---- Launches that fail -------------------------------------------------------------------------

CHIME_KERNEL void do_nothing() {}

void mark(const char* what) { std::fprintf(stderr, "-- %s\n", what); }

void launches_what_cannot_run() {
  chime_init();
  exec::launch({.block = 2048}, do_nothing);
  exec::launch({.block = 2048}, do_nothing);
  mark("not told yet");
  exec::device_synchronize();
  mark("told by device_synchronize");
  exec::device_synchronize();
  chime_barrier_all();
  mark("told once");
  exec::launch({.block = 2048}, do_nothing);
  if (*exec::last_error() == 0) mark("no error?");
  chime_barrier_all();
  mark("asked for by last_error");
  const exec::Status status = exec::launch({.block = 2048}, do_nothing);
  if (exec::launch({.block = 2048}, do_nothing) != CHIMEX_OK && status != CHIMEX_OK)
    chime_barrier_all();
  mark("looked at");
  exec::launch({.shared_bytes = 1 << 30}, do_nothing);
  chime_barrier_all();
  mark("told by chime_barrier_all");
  chime::collective_launch({.grid = 1 << 20}, do_nothing);
  chime_finalize();
  mark("told by chime_finalize");
}

const std::map<std::string, void (*)()> kActs = {
    {"faults_in_a_kernel", faults_in_a_kernel},
    {"hangs", hangs},
    {"launches_what_cannot_run", launches_what_cannot_run},
};

}  // namespace

int main(int argc, char** argv) {
  const auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
