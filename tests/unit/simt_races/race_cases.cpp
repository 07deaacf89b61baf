// Kernels with and without a data race, for TSan: `race_cases NAME` runs one of them. TSan must
// report a racy one, and no correct one (CMakeLists.txt has the lists).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "chime/device/exec/exec.cuh"

namespace {

using namespace chime;
using exec::Order;
using exec::Scope;

struct Words {
  int data = 0;
  alignas(64) std::uint32_t flag = 0;
  alignas(64) std::uint32_t unrelated = 0;
  alignas(64) std::uint32_t relayed = 0;
  int out[6 * 64] = {};
  int sink = 0;
};

CHIME_DEVICE bool is_leader_of(unsigned block) {
  return exec::block_rank() == block && exec::thread_rank() == 0;
}

// ---- Within a block -------------------------------------------------------------------------

template <bool with_barrier>
CHIME_KERNEL void exchange_in_shared(Words* words) {
  CHIME_SHARED_ARRAY(int, values, 64);
  const unsigned rank = exec::thread_rank();
  values[rank] = static_cast<int>(rank);
  if (with_barrier) exec::sync_block();
  words->out[exec::grid_rank()] = values[rank ^ 1];
}

// Partner within the warp, or in the other one.
template <unsigned partner>
CHIME_KERNEL void exchange_after_sync_warp(Words* words) {
  CHIME_SHARED_ARRAY(int, values, 64);
  const unsigned rank = exec::thread_rank();
  values[rank] = static_cast<int>(rank);
  exec::sync_warp();
  words->out[rank] = values[rank ^ partner];
}

// A shuffle moves values, but orders no memory.
CHIME_KERNEL void exchange_after_shuffle(Words* words) {
  CHIME_SHARED_ARRAY(int, values, 64);
  const unsigned rank = exec::thread_rank();
  values[rank] = static_cast<int>(rank);
  exec::shfl(~0u, rank, 0);
  words->out[rank] = values[rank ^ 1];
}

// ---- Between blocks -------------------------------------------------------------------------

CHIME_KERNEL void blocks_write_one_word(Words* words) {
  if (exec::thread_rank() == 0) words->data = static_cast<int>(exec::block_rank());
}

template <bool with_barrier>
CHIME_KERNEL void blocks_meet(Words* words) {
  if (is_leader_of(0)) words->data = 1;
  if (with_barrier) exec::sync_grid();
  if (is_leader_of(1)) words->sink = words->data;
}

// Data, then a flag; the flag, then the data.
enum class Send { kRelaxed, kRelease, kFence, kFenceTooEarly, kFenceThenAtomic };
enum class Receive { kRelaxed, kAcquire, kFence, kUnrelatedFence };

template <Send send>
CHIME_DEVICE void send_message(Words* words) {
  if constexpr (send == Send::kFenceTooEarly) exec::fence<Order::kRelease>();
  words->data = 1;
  if constexpr (send == Send::kFence || send == Send::kFenceThenAtomic) {
    exec::fence<Order::kAcqRel>();
  }
  if constexpr (send == Send::kRelease) {
    exec::st<Order::kRelease>(&words->flag, 1u);
  } else if constexpr (send == Send::kFenceThenAtomic) {
    exec::atomic_add(&words->flag, 1u);
  } else {
    exec::st(&words->flag, 1u);
  }
}

template <Receive receive>
CHIME_DEVICE void receive_message(Words* words) {
  // A fence after a load of another word does not order the data before the flag.
  if constexpr (receive == Receive::kUnrelatedFence) {
    exec::ld(&words->unrelated);
    exec::fence();
  }
  if constexpr (receive == Receive::kAcquire) {
    while (exec::ld<Order::kAcquire>(&words->flag) == 0) exec::pause();
  } else {
    while (exec::ld(&words->flag) == 0) exec::pause();
  }
  if constexpr (receive == Receive::kFence) exec::fence<Order::kAcqRel>();
  words->sink = words->data;
}

template <Send send, Receive receive>
CHIME_KERNEL void message(Words* words) {
  if (is_leader_of(0)) send_message<send>(words);
  if (is_leader_of(1)) receive_message<receive>(words);
}

// A block that passes a message on has one fence between the flag that it reads and the one that it
// sets; it acquires and then releases.
template <Order order>
CHIME_KERNEL void relayed_message(Words* words) {
  if (is_leader_of(0)) send_message<Send::kRelease>(words);
  if (is_leader_of(1)) {
    while (exec::ld(&words->flag) == 0) exec::pause();
    exec::fence<order>();
    exec::st(&words->relayed, 1u);
  }
  if (is_leader_of(2)) {
    while (exec::ld<Order::kAcquire>(&words->relayed) == 0) exec::pause();
    words->sink = words->data;
  }
}

// Between threads of the host.
template <Send send, Receive receive>
void host_message(Words* words) {
  words->flag = 0;
  std::thread sender(send_message<send>, words);
  receive_message<receive>(words);
  sender.join();
}

// ---- Launches and the host ------------------------------------------------------------------

CHIME_KERNEL void add_one(Words* words) {
  if (exec::grid_rank() == 0) words->data += 1;
}

void host_and_kernels_in_turn(Words* words) {
  exec::LaunchConfig config;
  config.grid = 3;
  config.block = 40;
  words->data = 5;
  exec::launch(config, add_one, words);
  exec::launch(config, add_one, words);
  exec::stream_synchronize({});
  words->data += 1;
}

void host_does_not_wait(Words* words) {
  exec::LaunchConfig config;
  exec::launch(config, add_one, words);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // its end orders nothing
  words->data += 1;
  exec::stream_synchronize({});
}

// ---- Everything at once, correctly ----------------------------------------------------------

CHIME_KERNEL void many_rounds(Words* words) {
  CHIME_SHARED_ARRAY(int, values, 64);
  CHIME_SHARED_VAR(int, total);
  int local[8] = {};  // stacks are reused by other threads and blocks
  const unsigned rank = exec::thread_rank();
  for (int round = 0; round < 5; ++round) {
    values[rank] = round;
    if (rank == 0) total = 0;
    exec::sync_block();
    local[round] = values[(rank + 1) % 64];
    exec::atomic_add(&total, local[round]);
    exec::sync_block();
    if (total != 64 * round) words->sink = -1;
    exec::sync_block();
  }
  std::memcpy(&words->out[rank], exec::block_rank() == 0 ? local : &values[rank], 0);
}

struct Case {
  const char* name;
  void (*kernel)(Words*);
  void (*host)(Words*);
  unsigned blocks;
};

const Case kCases[] = {
    {"missing_sync_block", exchange_in_shared<false>, nullptr, 1},
    {"with_sync_block", exchange_in_shared<true>, nullptr, 6},
    {"sync_warp_across_warps", exchange_after_sync_warp<33>, nullptr, 1},
    {"sync_warp_in_warp", exchange_after_sync_warp<1>, nullptr, 1},
    {"shuffle_as_barrier", exchange_after_shuffle, nullptr, 1},
    {"blocks_write_one_word", blocks_write_one_word, nullptr, 4},
    {"missing_sync_grid", blocks_meet<false>, nullptr, 2},
    {"with_sync_grid", blocks_meet<true>, nullptr, 2},
    {"relaxed_relaxed", message<Send::kRelaxed, Receive::kRelaxed>, nullptr, 2},
    {"relaxed_acquire", message<Send::kRelaxed, Receive::kAcquire>, nullptr, 2},
    {"release_relaxed", message<Send::kRelease, Receive::kRelaxed>, nullptr, 2},
    {"release_acquire", message<Send::kRelease, Receive::kAcquire>, nullptr, 2},
    {"fence_fence", message<Send::kFence, Receive::kFence>, nullptr, 2},
    {"fence_acquire", message<Send::kFence, Receive::kAcquire>, nullptr, 2},
    {"release_fence", message<Send::kRelease, Receive::kFence>, nullptr, 2},
    {"fence_atomic_fence", message<Send::kFenceThenAtomic, Receive::kFence>, nullptr, 2},
    {"fence_unrelated_fence", message<Send::kFence, Receive::kUnrelatedFence>, nullptr, 2},
    {"fence_too_early", message<Send::kFenceTooEarly, Receive::kFence>, nullptr, 2},
    {"relayed_by_a_fence", relayed_message<Order::kAcqRel>, nullptr, 3},
    {"relayed_by_a_release", relayed_message<Order::kRelease>, nullptr, 3},
    {"host_relaxed_acquire", nullptr, host_message<Send::kRelaxed, Receive::kAcquire>, 0},
    {"host_release_relaxed", nullptr, host_message<Send::kRelease, Receive::kRelaxed>, 0},
    {"host_fence_too_early", nullptr, host_message<Send::kFenceTooEarly, Receive::kFence>, 0},
    {"host_fence_acquire", nullptr, host_message<Send::kFence, Receive::kAcquire>, 0},
    {"host_fence_fence", nullptr, host_message<Send::kFence, Receive::kFence>, 0},
    {"host_fence_atomic_fence", nullptr, host_message<Send::kFenceThenAtomic, Receive::kFence>, 0},
    {"host_and_kernels_in_turn", nullptr, host_and_kernels_in_turn, 0},
    {"host_does_not_wait", nullptr, host_does_not_wait, 0},
    {"many_rounds", many_rounds, nullptr, 12},
};

// Races between blocks show when the blocks overlap: several tries.
void run(const Case& c) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    static Words words;
    if (c.host) {
      c.host(&words);
      continue;
    }
    words.flag = words.relayed = 0;
    exec::LaunchConfig config;
    config.grid = c.blocks;
    config.block = 64;
    config.cooperative = true;
    exec::launch(config, c.kernel, &words);
    exec::stream_synchronize({});
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& c : kCases) {
    if (argc == 2 && std::strcmp(argv[1], c.name) == 0) {
      run(c);
      return 0;
    }
  }
  std::fprintf(stderr, "usage: race_cases NAME, one of:\n");
  for (const Case& c : kCases) std::fprintf(stderr, "  %s\n", c.name);
  return 2;
}
