// A job in which PE 1 is killed during collectives, and the others go on: dead_member <call>, where
// the call is fcollect, reduce, reduce_in_place, or kernel: the first two in turns, by a kernel.
// Each survivor prints "survived" if
//
//   - each of its calls ended: well, with the right result, or soon and with the name of PE 1,
//   - and its teams without PE 1 went on.
//
// CHIME_TEST_NODES=2: fails unless each two PEs map each other alone.
#include <chime/chime.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/require.hpp"

namespace exec = chime::exec;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

namespace {

constexpr int kVictim = 1;
constexpr auto kSoon = seconds(40);      // less than CHIME_TIMEOUT: waiting for that takes too long
constexpr std::size_t kElements = 1500;  // of a member's: more than a slot has
constexpr unsigned kBefore = 10;         // calls that the victim makes before it is killed

// A team's: where a call fails, other members may still read and write its arrays.
struct Arrays {
  std::uint64_t *src, *dst[2];  // `dst` in turns
  unsigned *calls, *wrong;      // of a kernel
};

enum class Kind { kFcollect, kReduce, kReduceInPlace };

CHIME_HOST_DEVICE std::uint64_t element(unsigned call, int pe, std::size_t i) {
  return std::uint64_t{call} * 1000003 + static_cast<unsigned>(pe) * 10007 + i;
}

// ---- By the host --------------------------------------------------------------------------------

std::vector<int> pes_of(chime_team_t team) {
  std::vector<int> pes;
  for (int rank = 0; rank < chime_team_n_pes(team); ++rank)
    pes.push_back(chime_team_translate_pe(team, rank, CHIME_TEAM_WORLD));
  return pes;
}

std::vector<std::uint64_t> elements(unsigned call, int pe) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < kElements; ++i) all.push_back(element(call, pe, i));
  return all;
}

std::vector<std::uint64_t> result(Kind kind, unsigned call, const std::vector<int>& pes) {
  std::vector<std::uint64_t> all;
  for (const int pe : pes) {
    const std::vector<std::uint64_t> theirs = elements(call, pe);
    if (kind == Kind::kFcollect || all.empty())
      all.insert(all.end(), theirs.begin(), theirs.end());
    else
      std::ranges::transform(all, theirs, all.begin(), std::plus{});
  }
  return all;
}

std::vector<std::uint64_t> read(const std::uint64_t* from, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  exec::copy(all.data(), from, count * sizeof(all[0]));
  return all;
}

bool has_result(Kind kind, const std::vector<int>& pes, const Arrays& arrays, unsigned call) {
  const std::vector<std::uint64_t> wanted = result(kind, call, pes);
  return read(arrays.dst[call % 2], wanted.size()) == wanted;
}

// Its status. A result is right, or there is none.
int make_call(Kind kind, chime_team_t team, const std::vector<int>& pes, const Arrays& arrays,
              unsigned call) {
  std::uint64_t* const dst = arrays.dst[call % 2];
  std::uint64_t* const src = kind == Kind::kReduceInPlace ? dst : arrays.src;
  const std::vector<std::uint64_t> mine = elements(call, chime_my_pe());
  exec::copy(src, mine.data(), mine.size() * sizeof(mine[0]));
  const auto begin = Clock::now();
  const int status = kind == Kind::kFcollect ? chime_uint64_fcollect(team, dst, src, kElements)
                                             : chime_uint64_sum_reduce(team, dst, src, kElements);
  REQUIRE(status == CHIMEX_OK || Clock::now() - begin < kSoon);
  REQUIRE(status != CHIMEX_OK || has_result(kind, pes, arrays, call));
  return status;
}

// A fabric may find that the path has failed before the death is reported.
bool is_by_the_victim(int status) {
  return status == CHIMEX_ERR_PEER_DEAD || status == CHIMEX_ERR_NETWORK;
}
bool has_told_of_the_victim() {
  return is_by_the_victim(chimex_last_status()) &&
         std::strstr(chimex_last_error(), "PE 1") != nullptr;
}

// `later`: for the call after the one that fails.
void call_until_one_fails(Kind kind, const Arrays& arrays, const Arrays& later,
                          std::atomic<unsigned>& calls) {
  const std::vector<int> pes = pes_of(CHIME_TEAM_WORLD);
  unsigned call = 0;
  while (make_call(kind, CHIME_TEAM_WORLD, pes, arrays, call) == CHIMEX_OK) calls = ++call;
  REQUIRE(call >= kBefore);
  REQUIRE(has_told_of_the_victim());
  chimex_clear_last_error();
  REQUIRE(make_call(kind, CHIME_TEAM_WORLD, pes, later, call) != CHIMEX_OK);
  REQUIRE(has_told_of_the_victim());
}

// ---- By a kernel --------------------------------------------------------------------------------

CHIME_DEVICE bool is_right(bool is_reduce, unsigned call, const std::uint64_t* dst) {
  for (std::size_t i = 0; i < kElements; ++i) {
    std::uint64_t sum = 0;
    for (int pe = 0; pe < chime_n_pes(); ++pe) {
      const std::uint64_t theirs = element(call, pe, i);
      sum += theirs;
      if (!is_reduce && dst[static_cast<unsigned>(pe) * kElements + i] != theirs) return false;
    }
    if (is_reduce && dst[i] != sum) return false;
  }
  return true;
}

// A call that fails may end the kernel (CHIME_ON_ERROR).
CHIME_KERNEL void call_in_a_kernel(Arrays arrays) {
  for (unsigned call = 0;; ++call) {
    std::uint64_t* const dst = arrays.dst[call % 2];
    const bool is_reduce = call % 4 < 2;
    for (std::size_t i = 0; i < kElements; ++i) arrays.src[i] = element(call, chime_my_pe(), i);
    const int status = is_reduce
                           ? chime_uint64_sum_reduce(CHIME_TEAM_WORLD, dst, arrays.src, kElements)
                           : chime_uint64_fcollect(CHIME_TEAM_WORLD, dst, arrays.src, kElements);
    if (status != CHIMEX_OK) return;
    if (!is_right(is_reduce, call, dst)) *arrays.wrong += 1;
    exec::atomic_add(arrays.calls, 1u);
  }
}

unsigned read(const unsigned* from) {
  unsigned value = 0;
  exec::copy(&value, from, sizeof value);
  return value;
}

void be_in_a_kernel(const Arrays& arrays) {
  exec::launch({.grid = 1, .block = 1, .cooperative = true}, call_in_a_kernel, arrays);
  exec::device_synchronize();
  REQUIRE(read(arrays.wrong) == 0);
  REQUIRE(read(arrays.calls) >= kBefore);
  chimex_async_error_t error{};
  chimex_get_async_error(&error);
  REQUIRE(is_by_the_victim(error.status) && error.pe == kVictim);
  chime_fence();  // this call reports the kernel's error
  REQUIRE(has_told_of_the_victim());
}

// ---- The job ------------------------------------------------------------------------------------

template <class T>
T* make_array(std::size_t count) {
  return static_cast<T*>(chime_calloc(count, sizeof(T)));
}
Arrays make_arrays() {
  const std::size_t most = kElements * static_cast<std::size_t>(chime_n_pes());
  return {.src = make_array<std::uint64_t>(kElements),
          .dst = {make_array<std::uint64_t>(most), make_array<std::uint64_t>(most)},
          .calls = make_array<unsigned>(1),
          .wrong = make_array<unsigned>(1)};
}

// Teams of this PE without the victim: the other nodes' members, and one PE of each node.
struct Teams {
  chime_team_t others, across;
  Arrays of_others, of_across;
};

Teams make_teams() {
  Teams made{};
  made.of_others = make_arrays(), made.of_across = make_arrays();
  const int n = chime_n_pes();
  REQUIRE(chime_team_split_strided(CHIME_TEAM_WORLD, 2, 1, n - 2, nullptr, 0, &made.others) == 0);
  REQUIRE(chime_team_split_strided(CHIME_TEAM_WORLD, 0, 2, n / 2, nullptr, 0, &made.across) == 0);
  return made;
}

void await_the_end() {
  const auto end = Clock::now() + seconds(20);
  while (chimex_pe_status(kVictim) != CHIMEX_ERR_PEER_DEAD) REQUIRE(Clock::now() < end);
}

// One call may report, once, what went to the victim before: it is carried out all the same.
void go_on_in(chime_team_t team, Kind kind, const Arrays& arrays) {
  if (team == CHIME_TEAM_INVALID) return;
  static int reports = 0;
  const std::vector<int> pes = pes_of(team);
  for (unsigned call = 0; call < 10; ++call) {
    chimex_clear_last_error();
    const int status = make_call(kind, team, pes, arrays, 1000 + call);
    REQUIRE(status == CHIMEX_OK || (has_told_of_the_victim() && ++reports == 1));
    REQUIRE(has_result(kind, pes, arrays, 1000 + call));
  }
}

void survive(const std::string& what, const Arrays& arrays, std::atomic<unsigned>& calls) {
  const Kind kind = what == "fcollect"          ? Kind::kFcollect
                    : what == "reduce_in_place" ? Kind::kReduceInPlace
                                                : Kind::kReduce;
  const Teams teams = make_teams();
  chime_barrier_all();
  if (what == "kernel")
    be_in_a_kernel(arrays);
  else
    call_until_one_fails(kind, arrays, teams.of_others, calls);
  await_the_end();
  go_on_in(teams.others, kind, teams.of_others);
  go_on_in(teams.across, kind, teams.of_across);
}

// Kills the process during the calls that follow the first ones.
void kill_during_calls(const std::string& what, const Arrays& arrays,
                       const std::atomic<unsigned>& calls) {
  while ((what == "kernel" ? read(arrays.calls) : calls.load()) < kBefore) {
    std::this_thread::yield();
  }
  raise(SIGKILL);
}

void require_nodes(const std::uint64_t* symmetric) {
  const char* const nodes = std::getenv("CHIME_TEST_NODES");
  if (nodes == nullptr) return;
  const int members = std::atoi(nodes), me = chime_my_pe();
  for (int pe = 0; pe < chime_n_pes(); ++pe)
    REQUIRE((chime_ptr(symmetric, pe) != nullptr) == (pe / members == me / members));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  chime_init();
  const int me = chime_my_pe();
  const Arrays arrays = make_arrays();
  require_nodes(arrays.src);
  std::atomic<unsigned> calls = 0;
  std::thread killer;
  if (me == kVictim) killer = std::thread([&] { kill_during_calls(what, arrays, calls); });
  survive(what, arrays, calls);
  chime_finalize();
  std::printf("PE %d survived\n", me);
}
