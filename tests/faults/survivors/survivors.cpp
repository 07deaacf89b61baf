// A job in which PE 1 is killed and the others go on: survivors <case>. Each survivor prints
// "survived" if everything was as chimex_pe_status (chime.h) promises.
//
//   operations      fail on the dead PE, succeed among survivors
//   barrier         survivors are in a barrier of the host when the PE dies
//   kernel_barrier  likewise, in a kernel
//   malloc          they are in a collective allocation
//   teams           they are in a barrier of a team with the dead PE, and go on in one without it
//   shrink          they make teams of those that live
//   shrink_decider  likewise, when the PE dies that is to decide on the new team
//   signal          they wait for a word that the dead PE should write
//   untouched       no PE communicated with another before
//   unreported          a kernel has met the failure, and no call has reported it yet
//   kernel_status   a kernel queries the PE's status until the PE is gone
//   in_flight       they are in the middle of operations on it, on the host
//   kernel_quiet    likewise, in kernels: puts and quiet,
//   kernel_get      gets,
//   kernel_atomic   fetching atomics,
//   kernel_signal   and puts with a signal
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "support/require.hpp"

namespace exec = chime::exec;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

namespace {

constexpr int kVictim = 1;
constexpr auto kAtOnce = seconds(6);  // less than CHIME_TIMEOUT: waiting for that takes too long

struct Words {
  std::uint64_t data[4], signal[4], never;
  int status[3], status_of_nobody, is_in_time;  // results in a kernel
};

// The heap may be a GPU's.
Words read(const Words* words) {
  Words copy;
  exec::copy(&copy, words, sizeof copy);
  return copy;
}

int other_survivor() { return 2 - chime_my_pe(); }

bool names_the_victim() { return std::strstr(chimex_last_error(), "PE 1 is gone") != nullptr; }

// The error of a call that fails by the dead PE.
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
  for (int known = CHIMEX_OK; known != CHIMEX_ERR_PEER_DEAD; known = chimex_pe_status(kVictim)) {
    // A fabric may find that the path has failed before the death is reported.
    REQUIRE(known == CHIMEX_OK || known == CHIMEX_ERR_NETWORK);
    REQUIRE(Clock::now() < end);
  }
}

// Also at the second call.
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
CHIME_KERNEL void meet_often(chime_team_t team, std::uint64_t* met) {
  for (int round = 0; round < 100; ++round) *met += chime_team_sync(team) == CHIMEX_OK ? 1 : 0;
}

// A kernel sees the death without having sent anything to the PE.
CHIME_KERNEL void ask_until_the_end(Words* words) {
  const std::uint64_t begin = exec::clock_ns();
  const auto waited = [&] { return exec::clock_ns() - begin; };
  while (chimex_pe_status(kVictim) != CHIMEX_ERR_PEER_DEAD && waited() < 20'000'000'000) {
    exec::nanosleep(100'000);
  }
  words->is_in_time = waited() < 6'000'000'000;
  for (int pe = 0; pe < chime_n_pes(); ++pe) words->status[pe] = chimex_pe_status(pe);
  words->status_of_nobody = chimex_pe_status(chime_n_pes());
}

// Each kernel goes on until an operation fails, which ends it (CHIME_ON_ERROR).
CHIME_KERNEL void put_and_quiet(Words* words) {
  for (;;) {
    chime_uint64_p(&words->data[chime_my_pe()], 1, kVictim);
    chime_quiet();
  }
}
CHIME_KERNEL void get(Words* words) {
  for (;;) words->never += 0 * chime_uint64_g(&words->data[0], kVictim);
}
CHIME_KERNEL void add(Words* words) {
  for (;;) chime_uint64_atomic_fetch_add(&words->data[3], 1, kVictim);
}
CHIME_KERNEL void put_with_signal(Words* words) {
  const int me = chime_my_pe();
  for (;;) {
    chime_uint64_put_signal(&words->data[me], &words->data[me], 1, &words->signal[me], 1,
                            CHIME_SIGNAL_SET, kVictim);
  }
}

void survivors_reach_each_other(Words* words) {
  const int me = chime_my_pe(), other = other_survivor();
  REQUIRE(chimex_pe_status(other) == CHIMEX_OK);
  REQUIRE(chimex_pe_status(me) == CHIMEX_OK);
  const std::uint64_t value = 100 + static_cast<std::uint64_t>(me);
  chimex_clear_last_error();
  chime_putmem_signal(&words->data[me], &value, sizeof value, &words->signal[me], 1,
                      CHIME_SIGNAL_SET, other);
  chime_signal_wait_until(&words->signal[other], CHIME_CMP_EQ, 1);
  // Any waiter may find that an earlier request to the dead PE has failed; the next call reports
  // it.
  REQUIRE(chimex_last_status() == CHIMEX_OK || has_told_of_the_victim());
  REQUIRE(read(words).signal[other] == 1);
  REQUIRE(read(words).data[other] == 100 + static_cast<std::uint64_t>(other));
}

// On a GPU a kernel that begins just when the host learns of the death may miss it.
chimex_async_error_t error_of_a_put_in_a_kernel(Words* words) {
  const char* const device = std::getenv("CHIME_DEVICE");
  const bool may_go_unseen = device != nullptr && std::strcmp(device, "cuda") == 0;
  const auto begin = Clock::now();
  chimex_async_error_t error{};
  do {
    exec::launch({}, put_to, &words->data[0], kVictim);
    exec::device_synchronize();
    chimex_get_async_error(&error);
  } while (error.status == CHIMEX_OK && may_go_unseen && Clock::now() - begin < kAtOnce);
  return error;
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
  const chimex_async_error_t error = error_of_a_put_in_a_kernel(words);
  REQUIRE(error.status == CHIMEX_ERR_PEER_DEAD && error.pe == kVictim);
  fails_at_once([] { chime_barrier_all(); });
}

void wait_for_a_word(Words* words) {
  const auto begin = Clock::now();
  chimex_clear_last_error();
  chime_signal_wait_until(&words->never, CHIME_CMP_EQ, 1);
  REQUIRE(has_told_of_the_victim());
  REQUIRE(Clock::now() - begin > seconds(7));  // CHIME_TIMEOUT: another PE might write it
  REQUIRE(Clock::now() - begin < seconds(30));
}

// The next operations are carried out, whatever they report: the other survivor waits.
void fail_in_a_kernel(Words* words) {
  await_the_end();
  exec::launch({}, put_whole_to, &words->data[0], kVictim);
  exec::device_synchronize();
}

void launch_a_meeting() {
  exec::launch({.grid = 1, .block = 1, .cooperative = true}, meet);
  exec::device_synchronize();
  chime_fence();  // this call reports the kernel's error
}

void ask_in_a_kernel(Words* words) {
  exec::launch({}, ask_until_the_end, words);
  exec::device_synchronize();
  const Words told = read(words);
  for (int pe = 0; pe < chime_n_pes(); ++pe) {
    REQUIRE(told.status[pe] == (pe == kVictim ? CHIMEX_ERR_PEER_DEAD : CHIMEX_OK));
    REQUIRE(told.status[pe] == chimex_pe_status(pe));
  }
  REQUIRE(told.status_of_nobody == CHIMEX_ERR_INVALID);
  REQUIRE(told.is_in_time != 0);
}

void be_in_a_kernel(void (*kernel)(Words*), Words* words) {
  const auto begin = Clock::now();
  exec::launch({}, kernel, words);
  exec::device_synchronize();
  REQUIRE(Clock::now() - begin < kAtOnce);
  await_the_end();
  chimex_async_error_t error{};
  chimex_get_async_error(&error);
  REQUIRE(error.status == CHIMEX_ERR_PEER_DEAD && error.pe == kVictim);
}

template <class Call>
void repeat_until_it_fails(Call call) {
  const auto begin = Clock::now();
  chimex_clear_last_error();
  while (chimex_last_status() == CHIMEX_OK && Clock::now() - begin < 2 * kAtOnce) call();
  REQUIRE(chimex_last_status() != CHIMEX_OK);
  REQUIRE(Clock::now() - begin < kAtOnce);
  await_the_end();
}

// One thread each for the waits in different places.
void be_in_the_middle(Words* words) {
  const int me = chime_my_pe();
  std::thread getter([&] {
    chimex_pe_bind(me);
    std::uint64_t there = 0;
    repeat_until_it_fails([&] { chime_getmem(&there, &words->data[0], sizeof there, kVictim); });
  });
  repeat_until_it_fails([&] {
    chime_uint64_p(&words->data[me], 1, kVictim);
    chime_quiet();
  });
  getter.join();
}

struct Teams {
  chime_team_t whole, pair, led_by_victim;
};
Teams teams{};

// One team has all PEs, the other the survivors.
void make_teams() {
  REQUIRE(chime_team_split_strided(CHIME_TEAM_WORLD, 2, -1, 3, nullptr, 0, &teams.whole) == 0);
  REQUIRE(chime_team_split_strided(CHIME_TEAM_WORLD, 0, 2, 2, nullptr, 0, &teams.pair) == 0);
  const int ranks[] = {kVictim, 2, 0};
  REQUIRE(chimex_team_split_list(CHIME_TEAM_WORLD, ranks, 3, nullptr, 0, &teams.led_by_victim) ==
          0);
}

// Any call may report an earlier request to the dead PE, once.
void meet_as_a_pair(chime_team_t pair) {
  chimex_async_error_t error{};
  chimex_get_async_error(&error);
  for (int round = 0; round < 100; ++round) REQUIRE(chime_team_sync(pair) == CHIMEX_OK);
}

// The survivors still meet: on the host, in a kernel, and in a new team.
void go_on_as_a_team(Words* words) {
  fails_at_once([] { REQUIRE(chime_barrier(teams.whole) == CHIMEX_ERR_PEER_DEAD); });
  meet_as_a_pair(teams.pair);
  fails_at_once([] { REQUIRE(chime_team_sync(chimex_team_lane(teams.whole, 3)) != CHIMEX_OK); });
  // Data moves among the survivors, and not among those that had the dead PE.
  std::uint64_t* const word = &words->data[kVictim];
  fails_at_once([&] { REQUIRE(chime_uint64_sum_reduce(teams.whole, word, word, 1) != CHIMEX_OK); });
  chimex_clear_last_error();
  REQUIRE(chime_uint64_sum_reduce(teams.pair, word, word, 1) == CHIMEX_OK);
  REQUIRE(chime_uint64_broadcast(teams.pair, word, word, 1, 1) == CHIMEX_OK);
  exec::launch({.grid = 1, .block = 1, .cooperative = true}, meet_often, teams.pair, &words->never);
  REQUIRE(exec::device_synchronize() == CHIMEX_OK);
  REQUIRE(read(words).never == 100);
  chime_team_t made = 3;
  fails_at_once([&] {
    REQUIRE(chime_team_split_strided(CHIME_TEAM_WORLD, 0, 2, 2, nullptr, 0, &made) ==
            CHIMEX_ERR_PEER_DEAD);
  });
  REQUIRE(made == CHIME_TEAM_INVALID);
  REQUIRE(chime_team_split_strided(teams.pair, 1, -1, 2, nullptr, 0, &made) == CHIMEX_OK);
  meet_as_a_pair(made);
  chime_team_destroy(made);
  chimex_clear_last_error();
  chime_team_destroy(teams.whole);
  REQUIRE(has_told_of_the_victim());
  meet_as_a_pair(teams.pair);
}

// A call among survivors. One of them may report, once, what a barrier has sent to the victim; it
// is carried out all the same.
void expect_done(int status) {
  static int reports = 0;
  REQUIRE(status == CHIMEX_OK || (has_told_of_the_victim() && ++reports == 1));
}

// The new team has the survivors in the order of ranks in `team`, and works.
void shrink(chime_team_t team, int first, Words* words) {
  chime_team_t living = CHIME_TEAM_INVALID;
  REQUIRE(chimex_team_shrink(team, nullptr, 0, &living) == CHIMEX_OK);
  REQUIRE(chime_team_n_pes(living) == 2);
  REQUIRE(chime_team_translate_pe(living, 0, CHIME_TEAM_WORLD) == first);
  REQUIRE(chime_team_translate_pe(living, 1, CHIME_TEAM_WORLD) == 2 - first);
  for (int round = 0; round < 100; ++round) expect_done(chime_team_sync(living));
  auto* const word = &words->data[kVictim];
  chime_uint64_p(word, static_cast<std::uint64_t>(chime_my_pe()) + 1, chime_my_pe());
  expect_done(chime_uint64_sum_reduce(living, word, word, 1));
  REQUIRE(read(words).data[kVictim] == 4);
  chime_team_destroy(living);
}

void shrink_often(Words* words) {
  await_the_end();
  chimex_clear_last_error();
  shrink(CHIME_TEAM_WORLD, 0, words);
  fails_at_once([] { REQUIRE(chime_barrier(teams.whole) == CHIMEX_ERR_PEER_DEAD); });
  for (int round = 0; round < 3; ++round) shrink(teams.whole, 2, words);
  shrink(teams.pair, 0, words);  // none of which is dead
}

// The victim has the lowest rank, and dies while the others wait for what it decides.
void shrink_without_the_decider(Words* words) {
  const auto begin = Clock::now();
  shrink(teams.led_by_victim, 2, words);
  REQUIRE(Clock::now() - begin < kAtOnce);
}

void survive(const std::string& what, Words* words) {
  if (what == "teams") go_on_as_a_team(words);
  if (what == "shrink") shrink_often(words);
  if (what == "shrink_decider") shrink_without_the_decider(words);
  if (what == "kernel_status") ask_in_a_kernel(words);
  if (what == "in_flight") be_in_the_middle(words);
  if (what == "kernel_quiet") be_in_a_kernel(put_and_quiet, words);
  if (what == "kernel_get") be_in_a_kernel(get, words);
  if (what == "kernel_atomic") be_in_a_kernel(add, words);
  if (what == "kernel_signal") be_in_a_kernel(put_with_signal, words);
  if (what == "operations" || what == "untouched") operate(words);
  if (what == "barrier") fails_at_once([] { chime_barrier_all(); });
  if (what == "kernel_barrier") fails_at_once(launch_a_meeting);
  if (what == "malloc") fails_at_once([] { REQUIRE(chime_malloc(64) == nullptr); });
  if (what == "signal") wait_for_a_word(words);
  if (what == "unreported") fail_in_a_kernel(words);
  if (what != "unreported") await_the_end();
  survivors_reach_each_other(words);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  chime_init();
  auto* const words = static_cast<Words*>(chime_calloc(1, sizeof(Words)));
  if (what == "teams" || what.starts_with("shrink")) make_teams();
  if (what != "untouched") chime_barrier_all();
  if (chime_my_pe() == kVictim) die();
  const int me = chime_my_pe();
  survive(what, words);
  chime_finalize();
  std::printf("PE %d survived\n", me);
}
