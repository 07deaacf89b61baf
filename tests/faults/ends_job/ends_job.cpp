// An error ends the job, whatever the hosts do: ends_job <where> <PE>. Thread 0 of that PE's kernel
// stores to an address that is not symmetric, and its other threads wait for a signal that never
// comes, as do all threads of the other PE's kernel. ends_job_test.py starts it.
//
//   synchronize, sleep, read    the activity of each PE's main thread meanwhile
//   barrier, finalize           the erring PE's main thread is in this call; the other's sleeps
//   other_barrier, other_finalize   the reverse
//   thread   all sleep, and a second thread of that PE makes the error, in a call beside the kernel
//
// Prints "errs <time>" before the error.
#include <chime/chime.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace exec = chime::exec;

namespace {

constexpr unsigned kThreads = 64;             // two warps: that of the error, and another
constexpr useconds_t kHeadStartUs = 300'000;  // so that the others are inside their waits
constexpr unsigned kForEver = 10'000;         // seconds

CHIME_KERNEL void err_and_wait(std::uint64_t* signal, long* not_symmetric, int peer, bool errs) {
  if (exec::thread_rank() == 0 && errs) chime_long_p(not_symmetric, 1, peer);
  chime_signal_wait_until(signal, CHIME_CMP_EQ, 1);
}

// The softgpu compiles a kernel at its first launch, which takes a busy machine minutes.
exec::Status launch_without_an_error(const exec::LaunchConfig& config) {
  auto* const signal = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  chime_uint64_p(signal, 1, chime_my_pe());
  chime_quiet();
  long* const unused = nullptr;
  const exec::Status status = exec::launch(config, err_and_wait, signal, unused, 0, false);
  return status == CHIMEX_OK ? exec::device_synchronize() : status;
}

void say_that_it_errs() {
  usleep(kHeadStartUs);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::printf("errs %ld.%03ld\n", static_cast<long>(now.tv_sec), now.tv_nsec / 1'000'000);
  std::fflush(stdout);
}

// Like a thread that reads a user's input: it holds the file's lock.
void read_what_never_comes() {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fgetc(fdopen(ends[0], "r"));
}

// No call of Chime follows, whichever action ends.
void do_meanwhile(const std::string& where, bool errs) {
  if (where == "synchronize") exec::device_synchronize();
  if (where == "read") read_what_never_comes();
  if (where == (errs ? "barrier" : "other_barrier")) chime_barrier_all();
  if (where == (errs ? "finalize" : "other_finalize")) chime_finalize();
  sleep(kForEver);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string where = argv[1];
  static long word = 0;
  chime_init();
  auto* const signal = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  const int me = chime_my_pe();
  const int peer = (me + 1) % chime_n_pes();
  long* const not_symmetric = peer == me ? nullptr : &word;  // a put to itself takes any other
  const bool errs = me == std::atoi(argv[2]);
  exec::LaunchConfig config;
  config.block = kThreads;
  if (launch_without_an_error(config) != CHIMEX_OK) return 3;
  chime_barrier_all();
  if (errs && where != "thread") say_that_it_errs();
  const bool in_kernel = errs && where != "thread";
  if (exec::launch(config, err_and_wait, signal, not_symmetric, peer, in_kernel) != CHIMEX_OK)
    return 3;
  std::thread second;
  if (errs && where == "thread") {
    say_that_it_errs();
    second = std::thread([&] {
      chimex_pe_bind(me);
      chime_long_p(not_symmetric, 1, peer);
    });
  }
  do_meanwhile(where, errs);
}
