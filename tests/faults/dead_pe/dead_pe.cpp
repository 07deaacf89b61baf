// A job in which PE 1 is killed while the others wait for it: dead_pe
// kernel|barrier|malloc|init|finalize, or put to each other and never wait: puts. With `compiles`
// none is killed, and the others' kernel ends: a first launch, at which the softgpu compiles it.
//
// Prints "dies <time>" before the kill. Survivors do nothing about it: Chime must end their wait,
// or refuse their next put, and report the reason.
#include <chime/chime.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace exec = chime::exec;

namespace {

constexpr int kVictim = 1;
constexpr useconds_t kHeadStartUs = 300'000;  // so that the survivors are inside their wait

CHIME_KERNEL void wait_for_a_signal(uint64_t* signal) {
  chime_signal_wait_until(signal, CHIME_CMP_EQ, 1);
}

[[noreturn]] void die() {
  usleep(kHeadStartUs);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::printf("dies %ld.%03ld\n", static_cast<long>(now.tv_sec), now.tv_nsec / 1'000'000);
  std::fflush(stdout);
  raise(SIGKILL);
  std::abort();
}

// The launcher's number: before chime_init there is no other.
int number_of_this_pe() {
  for (const char* name : {"PMIX_RANK", "CHIME_RUN_PE"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  std::fprintf(stderr, "dead_pe must be started by chime-run or by a PMIx launcher\n");
  std::exit(2);
}

void run_kernel(uint64_t* signal) {
  const exec::LaunchConfig one_thread{.grid = 1, .block = 1, .cooperative = true};
  if (exec::launch(one_thread, wait_for_a_signal, signal) == CHIMEX_OK) exec::device_synchronize();
}

void wait_in_a_kernel() {
  auto* signal = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  if (chime_my_pe() == kVictim) die();
  run_kernel(signal);  // the signal never comes
  chime_barrier_all();
}

void run_a_kernel_that_ends() {
  auto* signal = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  chime_uint64_p(signal, 1, chime_my_pe());
  chime_quiet();
  run_kernel(signal);
}

void wait_in_a_barrier() {
  if (chime_my_pe() == kVictim) die();
  chime_barrier_all();
}

void put_for_ever() {
  auto* word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  if (chime_my_pe() == kVictim) die();
  for (;;) chime_int_p(word, 1, 0);
}

void wait_in_malloc() {
  if (chime_my_pe() == kVictim) die();
  chime_malloc(4096);
}

void wait_in_finalize() {
  if (chime_my_pe() == kVictim) die();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string where = argc > 1 ? argv[1] : "";
  if (where == "init" && number_of_this_pe() == kVictim) die();
  chime_init();
  if (where == "kernel") wait_in_a_kernel();
  if (where == "compiles") run_a_kernel_that_ends();
  if (where == "barrier") wait_in_a_barrier();
  if (where == "puts") put_for_ever();
  if (where == "malloc") wait_in_malloc();
  if (where == "finalize") wait_in_finalize();
  chime_finalize();
  if (where != "compiles") std::printf("PE %d noticed nothing\n", number_of_this_pe());
}
