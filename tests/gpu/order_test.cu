// Litmus tests of exec on a GPU: a message of several words, and a flag that announces it by each
// kind of store in exec. A thread that has seen the flag sees the message, at each scope, and also
// the words of threads that the sender met before.
//
// On the softgpu in weak mode, which delays stores, a relaxed flag must be seen too early in some
// run, or the other facts prove nothing. A GPU may or may not show it.
#include <cstdlib>

#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;
using exec::Order;
using exec::Scope;

static constexpr unsigned kWords = 8, kRuns = 60;

struct Message {
  std::uint64_t words[kWords];
  std::uint64_t flag;
  unsigned missing, gave_up;
};

CHIME_DEVICE void write_words(Message* message) {
  for (std::uint64_t& word : message->words) exec::st<Order::kRelaxed, Scope::kDevice>(&word, 1);
}
CHIME_DEVICE void read_words(Message* message) {
  unsigned missing = 0;
  for (const std::uint64_t& word : message->words)
    missing += exec::ld<Order::kRelaxed, Scope::kDevice>(&word) == 0;
  if (missing != 0) exec::red_add<Order::kRelaxed, Scope::kDevice>(&message->missing, missing);
}

// ---- Kinds of announcement ----------------------------------------------------------------------

template <Order kOrder, Scope kScope>
struct Store {
  CHIME_DEVICE static void tell(std::uint64_t* flag) { exec::st<kOrder, kScope>(flag, 1); }
};
template <Order kOrder, Scope kScope>
struct Reduction {
  CHIME_DEVICE static void tell(std::uint64_t* flag) { exec::red_add<kOrder, kScope>(flag, 1); }
};
template <Order kOrder, Scope kScope>
struct Addition {
  CHIME_DEVICE static void tell(std::uint64_t* flag) { exec::atomic_add<kOrder, kScope>(flag, 1); }
};
template <Order kOrder, Scope kScope>
struct Swap {
  CHIME_DEVICE static void tell(std::uint64_t* flag) {
    exec::atomic_cas<kOrder, kScope>(flag, 0, 1);
  }
};
template <Order kOrder, Scope kScope>
struct Fence {
  CHIME_DEVICE static void tell(std::uint64_t* flag) {
    exec::fence<kOrder, kScope>();
    exec::st<Order::kRelaxed, kScope>(flag, 1);
  }
};

// ---- Senders and receivers ----------------------------------------------------------------------

// Thread 1 of block 0 writes and meets thread 0, which signals block 1.
template <class Way>
CHIME_KERNEL void to_other_block(Message* message) {
  if (exec::block_rank() == 0) {
    if (exec::thread_rank() == 1) write_words(message);
    exec::sync_block();
    if (exec::thread_rank() == 0) Way::tell(&message->flag);
  } else if (exec::thread_rank() == 0) {
    if (!await_word(&message->flag, 1)) message->gave_up = 1;
    read_words(message);
  }
}

// Warp 0 signals warp 1.
template <class Way>
CHIME_KERNEL void to_other_warp(Message* message) {
  if (exec::thread_rank() == 0) {
    write_words(message);
    Way::tell(&message->flag);
  } else if (exec::thread_rank() == 32) {
    if (!await_word(&message->flag, 1)) message->gave_up = 1;
    read_words(message);
  }
}

// A thread of each block writes, all meet, the first thread of each block reads: its own block's
// and the others' words.
static CHIME_KERNEL void over_the_grid(Message* message) {
  const bool is_writer = exec::thread_rank() == 33;
  Message* const mine = message + exec::block_rank();
  if (is_writer) write_words(mine);
  exec::sync_grid();
  if (exec::thread_rank() != 0) return;
  for (unsigned block = 0; block < exec::grid_blocks(); ++block) read_words(message + block);
}

// ---- Facts -------------------------------------------------------------------------------------

static constexpr unsigned kBlocks = 3;
struct Messages {
  Message of_block[kBlocks];
};

// The number of runs in which a word was missing.
template <class Kernel>
static unsigned runs_without_it(exec::LaunchConfig config, Kernel kernel) {
  unsigned runs = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    Result<Messages> result;
    CHIME_NEED(exec::launch(config, kernel, result.device()->of_block) == CHIMEX_OK);
    const Messages seen = result.read();
    bool is_missing = false;
    for (const Message& message : seen.of_block) {
      CHIME_CHECK(message.gave_up == 0);
      is_missing |= message.missing != 0;
    }
    runs += is_missing;
  }
  return runs;
}

template <class Way>
static unsigned to_other_block_without_it() {
  return runs_without_it({.grid = exec::dim3(2), .block = exec::dim3(2)}, to_other_block<Way>);
}
template <class Way>
static unsigned to_other_warp_without_it() {
  return runs_without_it({.block = exec::dim3(64)}, to_other_warp<Way>);
}

static void a_flag_that_promises_nothing_is_seen_too_early() {
  const char* const weak = std::getenv("CHIME_SIMT_WEAK");
  if (weak == nullptr || weak[0] != '1') return;
  CHIME_CHECK((to_other_block_without_it<Store<Order::kRelaxed, Scope::kSystem>>()) > 0);
  CHIME_CHECK((to_other_block_without_it<Store<Order::kRelease, Scope::kBlock>>()) > 0);
  CHIME_CHECK((to_other_warp_without_it<Store<Order::kRelaxed, Scope::kBlock>>()) > 0);
}

template <Scope kScope>
static void a_message_is_there_when_its_flag_is() {
  CHIME_CHECK((to_other_block_without_it<Store<Order::kRelease, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Store<Order::kSeqCst, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Reduction<Order::kRelease, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Addition<Order::kRelease, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Addition<Order::kAcqRel, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Swap<Order::kSeqCst, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Fence<Order::kRelease, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Fence<Order::kAcqRel, kScope>>()) == 0);
  CHIME_CHECK((to_other_block_without_it<Fence<Order::kSeqCst, kScope>>()) == 0);
}

static void a_message_within_a_block_is_there_when_its_flag_is() {
  CHIME_CHECK((to_other_warp_without_it<Store<Order::kRelease, Scope::kBlock>>()) == 0);
  CHIME_CHECK((to_other_warp_without_it<Reduction<Order::kRelease, Scope::kBlock>>()) == 0);
  CHIME_CHECK((to_other_warp_without_it<Fence<Order::kAcqRel, Scope::kBlock>>()) == 0);
}

static void a_grid_that_met_sees_what_all_its_threads_wrote() {
  exec::LaunchConfig config;
  config.grid = exec::dim3(kBlocks), config.block = exec::dim3(64), config.cooperative = true;
  CHIME_CHECK(runs_without_it(config, over_the_grid) == 0);
}

int main() {
  need_gpu();
  a_flag_that_promises_nothing_is_seen_too_early();
  a_message_is_there_when_its_flag_is<Scope::kDevice>();
  a_message_is_there_when_its_flag_is<Scope::kSystem>();
  a_message_within_a_block_is_there_when_its_flag_is();
  a_grid_that_met_sees_what_all_its_threads_wrote();
  return verdict();
}
