// A job in which PE 1 is killed and the others go on: survivors <case>. Each survivor prints
// "survived", after everything was as chimex_pe_status (chime.h) promises.
//
//   operations      on the dead PE fail, among survivors do not
//   barrier         they are in one of the host's when it dies
//   kernel_barrier  likewise, of a kernel
//   malloc          they are in a collective allocation
//   signal          they wait for a word of its
//   untold          a kernel has met its end, and no call has told that yet
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace exec = chime::exec;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

namespace {

constexpr int kVictim = 1;
constexpr auto kAtOnce = seconds(6);  // less than CHIME_TIMEOUT: who waits for that is too late

#define REQUIRE(fact)                                                                              \
  do {                                                                                             \
    if (!(fact)) {                                                                                 \
      std::printf("PE %d: not so in line %d: %s; status %d: %s\n", chime_my_pe(), __LINE__, #fact, \
                  chimex_last_status(), chimex_last_error());                                      \
      std::fflush(stdout);                                                                         \
      std::_Exit(1);                                                                               \
    }                                                                                              \
  } while (false)

struct Words {
  std::uint64_t data[4], signal[4], never;
};

int other_survivor() { return 2 - chime_my_pe(); }

bool names_the_victim() { return std::strstr(chimex_last_error(), "PE 1 is gone") != nullptr; }

// What a call that fails by the dead PE leaves behind.
bool has_told_of_the_victim() {
  return chimex_last_status() == CHIMEX_ERR_PEER_DEAD && names_the_victim();
}

[[noreturn]] void die() {
  usleep(500'000);  // the others are in their wait
  raise(SIGKILL);
  std::abort();
}

void await_the_end() {
  const auto end = Clock::now() + seconds(20);
  while (chimex_pe_status(kVictim) == CHIMEX_OK) REQUIRE(Clock::now() < end);
  REQUIRE(chimex_pe_status(kVictim) == CHIMEX_ERR_PEER_DEAD);
}

// Also when it is called again.
template <class Call>
void fails_at_once(Call call) {
  for (int round = 0; round < 2; ++round) {
    const auto begin = Clock::now();
    chimex_clear_last_error();
    call();
    REQUIRE(has_told_of_the_victim());
    REQUIRE(Clock::now() - begin < kAtOnce);
  }
}

CHIME_KERNEL void put_to(std::uint64_t* word, int pe) { chime_uint64_p(word, 1, pe); }
CHIME_KERNEL void put_whole_to(std::uint64_t* word, int pe) {
  chime_uint64_p(word, 1, pe);
  chime_quiet();
}
CHIME_KERNEL void meet() { chime_barrier_all(); }

void survivors_reach_each_other(Words* words) {
  const int me = chime_my_pe(), other = other_survivor();
  REQUIRE(chimex_pe_status(other) == CHIMEX_OK);
  REQUIRE(chimex_pe_status(me) == CHIMEX_OK);
  const std::uint64_t value = 100 + static_cast<std::uint64_t>(me);
  chimex_clear_last_error();
  chime_putmem_signal(&words->data[me], &value, sizeof value, &words->signal[me], 1,
                      CHIME_SIGNAL_SET, other);
  chime_signal_wait_until(&words->signal[other], CHIME_CMP_EQ, 1);
  // What was posted to the dead PE before may be found to have failed by whoever waits, and is told
  // by the next call.
  REQUIRE(chimex_last_status() == CHIMEX_OK || has_told_of_the_victim());
  REQUIRE(words->signal[other] == 1);
  REQUIRE(words->data[other] == 100 + static_cast<std::uint64_t>(other));
}

void operate(Words* words) {
  await_the_end();
  chimex_clear_last_error();
  chime_uint64_p(&words->data[0], 1, kVictim);
  chime_quiet();
  REQUIRE(has_told_of_the_victim());
  std::uint64_t there = 0;
  fails_at_once([&] { chime_getmem(&there, &words->data[0], sizeof there, kVictim); });
  fails_at_once([&] { chime_uint64_atomic_fetch_add(&words->data[0], 1, kVictim); });
  chimex_clear_last_error();
  exec::launch({}, put_to, &words->data[0], kVictim);
  exec::device_synchronize();
  chimex_async_error_t error{};
  chimex_get_async_error(&error);
  REQUIRE(error.status == CHIMEX_ERR_PEER_DEAD && error.pe == kVictim);
  fails_at_once([] { chime_barrier_all(); });
}

void wait_for_a_word(Words* words) {
  const auto begin = Clock::now();
  chimex_clear_last_error();
  chime_signal_wait_until(&words->never, CHIME_CMP_EQ, 1);
  REQUIRE(has_told_of_the_victim());
  REQUIRE(Clock::now() - begin > seconds(7));  // CHIME_TIMEOUT: it may have been another's
  REQUIRE(Clock::now() - begin < seconds(30));
}

// The operations that come next are carried out, whatever they tell: the other survivor waits.
void fail_in_a_kernel(Words* words) {
  await_the_end();
  exec::launch({}, put_whole_to, &words->data[0], kVictim);
  exec::device_synchronize();
}

void launch_a_meeting() {
  exec::launch({.grid = 1, .block = 1, .cooperative = true}, meet);
  exec::device_synchronize();
  chime_fence();  // a call: it tells what the kernel has met
}

void survive(const std::string& what, Words* words) {
  if (what == "operations") operate(words);
  if (what == "barrier") fails_at_once([] { chime_barrier_all(); });
  if (what == "kernel_barrier") fails_at_once(launch_a_meeting);
  if (what == "malloc") fails_at_once([] { REQUIRE(chime_malloc(64) == nullptr); });
  if (what == "signal") wait_for_a_word(words);
  if (what == "untold") fail_in_a_kernel(words);
  if (what != "untold") await_the_end();
  survivors_reach_each_other(words);
}

}  // namespace

int main(int argc, char** argv) {
  chime_init();
  auto* const words = static_cast<Words*>(chime_calloc(1, sizeof(Words)));
  chime_barrier_all();
  if (chime_my_pe() == kVictim) die();
  const int me = chime_my_pe();
  survive(argc > 1 ? argv[1] : "", words);
  chime_finalize();
  std::printf("PE %d survived\n", me);
}
