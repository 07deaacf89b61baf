// Operations beyond the bounds of allocations: bounds <right|wrong|ends>, with CHIME_CHECK=2.
// bounds_test.py starts it and has the expected messages.
//
//   right   operations up to the last byte of allocations
//   wrong   each wrong operation by the host, by a thread and by a block of a kernel, with
//           CHIME_ON_ERROR=return
//   ends    PE 1 makes a wrong one in a kernel, and sleeps
//
// Every PE prints the offsets of its allocations ("PE 0 has first 65536"), and the result of each
// operation ("PE 0 by host put_end: <words>").
#include <chime/chime.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace exec = chime::exec;

namespace {

constexpr unsigned kThreads = 64;
constexpr size_t kFirst = 520, kSecond = 4096, kFreed = 2048;  // bytes
constexpr size_t kFar = size_t{256} << 20;

// At the same offset on every PE.
struct Objects {
  char *first, *second, *freed;
};

CHIME_HOST_DEVICE uint64_t* word(char* at) { return reinterpret_cast<uint64_t*>(at); }

// Each row is a wrong operation: where it has two ends, the other end is right.
#define CASES(ROW)                                                                                 \
  ROW(put_end, chime_putmem(o.first, o.second, kFirst + 1, pe))                                    \
  ROW(put_nbi_span, chime_putmem_nbi(o.first, o.second, 1032, pe))                                 \
  ROW(put_before, chime_putmem(o.second - 1, o.first, 1, pe))                                      \
  ROW(put_far, chime_putmem(o.first + kFar, o.second, 8, pe))                                      \
  ROW(put_freed, chime_putmem(o.freed + 8, o.first, 16, pe))                                       \
  ROW(put_here, chime_putmem(o.second, o.first, kFirst + 1, pe))                                   \
  ROW(put_here_freed, chime_putmem(o.second, o.freed, 16, pe))                                     \
  ROW(put_own, chime_putmem(mine, o.first + kFirst - 8, 9, me))                                    \
  ROW(get_end, chime_getmem(o.second, o.first, kFirst + 1, pe))                                    \
  ROW(get_here, chime_getmem(o.first, o.second, kFirst + 1, pe))                                   \
  ROW(get_nbi_here_before, chime_getmem_nbi(o.second - 1, o.first, 8, pe))                         \
  ROW(p, chime_uint64_p(word(o.first + kFirst), 1, pe))                                            \
  ROW(g, *word(mine) = chime_uint64_g(word(o.second + kSecond), pe))                               \
  ROW(inc, chime_uint64_atomic_inc(word(o.first + kFirst), pe))                                    \
  ROW(fetch_add, *word(mine) = chime_uint64_atomic_fetch_add(word(o.first + kFirst), 1, pe))       \
  ROW(signal_op, chimex_signal_op(word(o.first + kFirst), 1, CHIME_SIGNAL_SET, pe))                \
  ROW(signal_word,                                                                                 \
      chime_putmem_signal(o.second, o.first, 8, word(o.first + kFirst), 1, CHIME_SIGNAL_SET, pe))  \
  ROW(signal_data,                                                                                 \
      chime_putmem_signal(o.first, o.second, kFirst + 1, word(o.second), 1, CHIME_SIGNAL_ADD, pe)) \
  ROW(signal_here, chime_putmem_signal_nbi(o.second, o.first, kFirst + 1, word(o.second), 1,       \
                                           CHIME_SIGNAL_SET, pe))                                  \
  ROW(iput, chime_uint64_iput(word(o.first), word(o.second), 13, 1, 6, pe))                        \
  ROW(iput_here, chime_uint64_iput(word(o.second), word(o.first), 1, 13, 6, pe))                   \
  ROW(iget, chime_uint64_iget(word(o.second), word(o.first), 1, 65, 2, pe))                        \
  ROW(iget_here, chime_uint64_iget(word(o.first), word(o.second), 65, 1, 2, pe))                   \
  ROW(wait, chime_uint64_wait_until(word(o.first + kFirst), CHIME_CMP_GE, 0))                      \
  ROW(wait_any,                                                                                    \
      chime_uint64_wait_until_any(word(o.first + kFirst - 8), 2, nullptr, CHIME_CMP_GE, 0))        \
  ROW(signal_wait, chime_signal_wait_until(word(o.freed), CHIME_CMP_GE, 0))                        \
  ROW(test, chime_uint64_test(word(o.second - 8), CHIME_CMP_GE, 0))

#define NAME(NAMED, ...) #NAMED,
constexpr const char* kCases[] = {CASES(NAME)};
#undef NAME

CHIME_HOST_DEVICE void act(int which, const Objects& o, int me, int pe) {
  alignas(8) char mine[16] = {};
  int row = 0;
#define ACT(NAMED, ...) \
  if (which == row++) return static_cast<void>(__VA_ARGS__);
  CASES(ACT)
#undef ACT
}
#undef CASES

CHIME_KERNEL void act_in_kernel(int which, Objects o, int me, int pe) { act(which, o, me, pe); }

constexpr const char* kBlockCases[] = {"put_end", "get_here", "signal_data"};

CHIME_KERNEL void act_as_block(int which, Objects o, int pe) {
  if (which == 0) chimex_putmem_block(o.first, o.second, kFirst + 1, pe);
  if (which == 1) chimex_getmem_block(o.first, o.second, kFirst + 1, pe);
  if (which == 2) {
    chimex_putmem_signal_block(o.first, o.second, kFirst + 1, word(o.second), 1, CHIME_SIGNAL_SET,
                               pe);
  }
}

template <class... P, class... A>
void run(unsigned threads, void (*kernel)(P...), A... arguments) {
  const exec::LaunchConfig config{.block = exec::dim3(threads)};
  if (exec::launch(config, kernel, arguments...) != CHIMEX_OK ||
      exec::device_synchronize() != CHIMEX_OK) {
    std::printf("the kernel did not run: %s\n", exec::last_error());
  }
}

// Prints the errors of host calls since the last line.
void say(int me, const char* by, const char* name) {
  const bool failed = chimex_last_status() != CHIMEX_OK;
  std::printf("PE %d by %s %s: %s\n", me, by, name, failed ? chimex_last_error() : "nothing");
  std::fflush(stdout);
  chimex_clear_last_error();
}

template <int n>
constexpr int count_of(const char* const (&)[n]) {
  return n;
}

void do_wrong(const Objects& o, int me, int peer) {
  for (int i = 0; i < count_of(kCases); ++i) {
    act(i, o, me, peer);
    say(me, "host", kCases[i]);
  }
  for (int i = 0; i < count_of(kCases); ++i) {
    run(1, act_in_kernel, i, o, me, peer);
    chime_fence();
    say(me, "thread", kCases[i]);
  }
  for (int i = 0; i < count_of(kBlockCases); ++i) {
    run(kThreads, act_as_block, i, o, peer);
    chime_fence();
    say(me, "block", kBlockCases[i]);
  }
  chimex_putmem_on_stream(o.first, o.second, kFirst + 1, peer, nullptr);
  say(me, "host", "stream_put");
  chimex_getmem_on_stream(o.first, o.second, kFirst + 1, peer, nullptr);
  say(me, "host", "stream_get_here");
  chimex_signal_op_on_stream(word(o.freed), 1, CHIME_SIGNAL_SET, peer, nullptr);
  say(me, "host", "stream_signal");
}

CHIME_HOST_DEVICE void act_right(const Objects& o, int pe) {
  alignas(8) char mine[16] = {};
  chime_putmem(o.first, o.second, kFirst, pe);
  chime_getmem(o.second + kSecond - kFirst, o.first, kFirst, pe);
  chime_putmem_nbi(o.second, mine, 16, pe);
  chime_quiet();
  chime_uint64_p(word(o.first + kFirst - 8), 1, pe);
  chime_uint64_g(word(o.second + kSecond - 8), pe);
  chime_uint64_atomic_inc(word(o.first + kFirst - 8), pe);
  chime_uint64_atomic_fetch_add(word(o.first + kFirst - 8), 1, pe);
  chime_putmem_signal(o.first, o.second, kFirst - 8, word(o.first + kFirst - 8), 1,
                      CHIME_SIGNAL_ADD, pe);
  chime_uint64_iput(word(o.first), word(o.second), 16, 1, 5, pe);
  chime_uint64_iget(word(o.second), word(o.first), 1, 64, 2, pe);
  chime_uint64_wait_until(word(o.first + kFirst - 8), CHIME_CMP_GE, 0);
  chime_uint64_test(word(o.second + kSecond - 8), CHIME_CMP_GE, 0);
  chime_quiet();
}

CHIME_KERNEL void act_right_in_kernel(Objects o, int pe) { act_right(o, pe); }

CHIME_KERNEL void act_right_as_block(Objects o, int pe) {
  chimex_putmem_block(o.first, o.second, kFirst - 8, pe);
  chimex_putmem_signal_block(o.second, o.first, kFirst, word(o.second + kSecond - 8), 1,
                             CHIME_SIGNAL_SET, pe);
  chimex_barrier_all_block();
}

// Also in memory that earlier allocations used.
void do_right(Objects o, int me, int peer) {
  for (int turn = 0; turn < 3; ++turn) {
    act_right(o, peer);
    say(me, "host", "all");
    run(1, act_right_in_kernel, o, peer);
    run(kThreads, act_right_as_block, o, peer);
    chimex_putmem_on_stream(o.first, o.second, kFirst, peer, nullptr);
    chimex_quiet_on_stream(nullptr);
    exec::stream_synchronize({});
    chime_barrier_all();
    say(me, "kernel", "all");
    chime_free(o.second);
    o.second = static_cast<char*>(chime_malloc(kSecond));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  chime_init();
  const int me = chime_my_pe(), peer = (me + 1) % chime_n_pes();
  Objects o{};
  o.first = static_cast<char*>(chime_calloc(1, kFirst));
  o.second = static_cast<char*>(chime_calloc(1, kSecond));
  o.freed = static_cast<char*>(chime_calloc(1, kFreed));
  chime_free(o.freed);
  char* const heap = reinterpret_cast<char*>(chime::context().pe.heap);
  std::printf("PE %d has first %td\nPE %d has second %td\nPE %d has freed %td\n", me,
              o.first - heap, me, o.second - heap, me, o.freed - heap);
  if (std::strcmp(argv[1], "wrong") == 0) do_wrong(o, me, peer);
  if (std::strcmp(argv[1], "right") == 0) do_right(o, me, peer);
  if (std::strcmp(argv[1], "ends") == 0) {
    std::fflush(stdout);
    if (me == 1) run(1, act_in_kernel, 0, o, me, peer);
    sleep(10'000);
  }
  chime_barrier_all();
  chime_finalize();
}
