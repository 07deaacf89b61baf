// A PE that does the one thing named on its command line and prints the result. setup_test.cpp
// starts jobs of these and reads the lines.
#define CHIME_HOST_ONLY
#include <chime/abi/context.h>
#include <chime/chime.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

int me() { return chimex_host_my_pe(); }
int n() { return chimex_host_n_pes(); }

std::size_t offset(const void* address) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                  chime::context().pe.heap);
}

void say(const std::string& text) {
  std::string line = "PE " + std::to_string(me()) + " says " + text + "\n";
  [[maybe_unused]] auto written = write(STDOUT_FILENO, line.data(), line.size());
}

void joins_and_leaves() {
  chime_init();
  say("joined " + std::to_string(n()));
  chime_finalize();
}

// SIGUSR1 ends a process if one of its threads accepts it.
void waits_for_a_signal() {
  chime_init();
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, nullptr);
  kill(getpid(), SIGUSR1);
  const timespec deadline{20, 0};
  say(sigtimedwait(&usr1, nullptr, &deadline) == SIGUSR1 ? "got it" : "waited in vain");
  chime_finalize();
}

void joins_three_times() {
  for (int round = 0; round < 3; ++round) {
    chime_init();
    void* memory = chime_malloc(64);
    if (offset(memory) != 65536) say("the second job's heap is not fresh");
    chime_init();  // a second call does nothing
    chime_finalize();
  }
  say("status " + std::to_string(chimex_init_status()));
}

void mallocs_before_init() { chime_malloc(8); }

void mallocs_after_finalize() {
  chime_init();
  chime_finalize();
  chime_malloc(8);
}

void calls_on_after_a_failed_init() {
  chime_init();
  say("status " + std::to_string(chimex_init_status()));
  chime_malloc(8);
  say(std::string("malloc: ") + chimex_last_error());
  std::thread([] {
    chime_barrier_all();
    say(std::string("in a thread: ") + chimex_last_error());
  }).join();
  chime_finalize();
  say(std::string("finalize: ") + chimex_last_error());
  unsetenv("CHIME_P2P");
  setenv("CHIME_SYMMETRIC_SIZE", "2M", 1);
  chime_init();
  say(chime_malloc(8) ? "then got memory" : chimex_last_error());
  chime_finalize();
  chime_malloc(8);
  say(std::string("at last: ") + chimex_last_error());
}

void asks_for_different_sizes() {
  chime_init();
  void* memory = chime_malloc(100 * static_cast<std::size_t>(me() + 1));
  say(memory ? "got memory" : std::string("got null: ") + chimex_last_error());
  // The job goes on after it: nothing was allocated anywhere.
  say("then heap + " + std::to_string(offset(chime_malloc(100))));
  chime_finalize();
}

bool is_the_other();

// Some PEs are in a barrier, the others in another call.
void mixes(void (*call)()) {
  chime_init();
  call();
  say(std::string("ended: ") + chimex_last_error());
  sleep(2);  // this process's end also notifies the others, and may overtake their messages
}
void one_is_in_a_barrier() {
  mixes([] { is_the_other() ? chime_barrier_all() : static_cast<void>(chime_malloc(64)); });
}
void one_is_in_no_barrier() {
  mixes([] { is_the_other() ? static_cast<void>(chime_malloc(64)) : chime_sync_all(); });
}
void one_leaves_from_a_barrier() {
  mixes([] { is_the_other() ? chime_finalize() : chime_barrier_all(); });
}

void makes_different_calls() {
  chime_init();
  void* memory = chime_malloc(64);
  if (me() == 0)
    chime_free(memory);
  else
    chime_malloc(64);
  say(chimex_last_error());
  chime_finalize();
}

void asks_for_too_much() {
  chime_init();
  say(chime_malloc(std::size_t{3} << 20) ? "got memory" : chimex_last_error());
  say(chime_malloc(std::size_t{1} << 20) ? "then got memory" : chimex_last_error());
  say(chime_calloc(~std::size_t{0}, 2) ? "got memory" : chimex_last_error());
  say(chime_align(48, 8) ? "got memory" : chimex_last_error());
  say(chime_align(4 << 20, 8) ? "got memory" : chimex_last_error());
  chime_finalize();
}

void frees_what_it_should_not() {
  chime_init();
  auto memory = static_cast<char*>(chime_malloc(1000));
  int local = 0;
  chime_free(nullptr);
  chime_free(memory + 16);
  say(chimex_last_error());
  chime_free(&local);
  say(chimex_last_error());
  chime_free(chime::context().pe.peer_heap[(me() + 1) % n()] + offset(memory));
  say(chimex_last_error());
  chime_free(memory);
  chime_free(memory);
  say(chimex_last_error());
  chime_finalize();
}

// Allocations have the same offsets everywhere, and a peer's mapping shows the peer's memory.
void exchanges_words() {
  chime_init();
  chime_malloc(7);
  auto words = static_cast<int*>(chime_calloc(static_cast<std::size_t>(n()), sizeof(int)));
  auto odd = static_cast<char*>(chime_align(4096, 1));
  for (std::size_t alignment = 1; alignment <= 2u << 20; alignment *= 2)
    if (reinterpret_cast<std::uintptr_t>(chime_align(alignment, 1)) % alignment != 0)
      say("not aligned to " + std::to_string(alignment));
  for (int pe = 0; pe < n(); ++pe) {
    std::byte* there = chime::context().pe.peer_heap[pe];
    if (!there) continue;
    reinterpret_cast<int*>(there + offset(words))[me()] = me() + 1;
  }
  chime_free(chime_malloc(1));  // a barrier
  std::string seen;
  for (int pe = 0; pe < n(); ++pe) seen += std::to_string(words[pe]) + " ";
  std::string reached;
  for (int pe = -1; pe <= n(); ++pe)
    reached += std::to_string(chime_pe_accessible(pe) + chime_addr_accessible(words, pe));
  say("reaches " + reached + std::to_string(chime_addr_accessible(&seen, me())));
  say("sees " + seen + "at heap + " + std::to_string(offset(words)) + " and heap + " +
      std::to_string(offset(odd)));
  chime_finalize();
}

void leaves_others_waiting() {
  chime_init();
  if (me() == 0) chime_malloc(8);
  if (me() != 0) sleep(20);
}

void exits_without_finalize() {
  chime_init();
  if (me() == 1) exit(0);
  chime_malloc(8);
  say("came back");
}

void is_killed() {
  chime_init();
  if (me() == 1) raise(SIGKILL);
  chime_malloc(8);
  say("came back");
}

void ends_the_job() {
  chime_init();
  if (me() == 1) chime_global_exit(7);
  chime_malloc(8);
  say("came back");
}

// Whether this PE behaves differently: CHIME_TEST_PE names it.
bool is_the_other() {
  const char* other = getenv("CHIME_TEST_PE");
  return std::strcmp(getenv("CHIME_RUN_PE"), other ? other : "1") == 0;
}

void has_another_heap_size() {
  if (is_the_other()) setenv("CHIME_SYMMETRIC_SIZE", "32M", 1);
  chime_init();
}

// At first one PE may write no file as large as its heap; later it may.
void has_no_room_for_its_heap() {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {1 << 20, before.rlim_max};
  if (is_the_other()) setrlimit(RLIMIT_FSIZE, &small);
  const auto begin = std::chrono::steady_clock::now();
  chime_init();
  const auto took = std::chrono::steady_clock::now() - begin;
  say(std::string(took < std::chrono::seconds(12) ? "soon: " : "late: ") + chimex_last_error());
  say("status " + std::to_string(chimex_last_status()));
  setrlimit(RLIMIT_FSIZE, &before);
  sleep(2);  // all have joined: a PE that leaves earlier is reported without its reason
  chime_init();
  say("then joined " + std::to_string(n()));
  chime_finalize();
}

// One PE's allocation fails. Then all have the same offsets again.
void fails_on_one_pe() {
  chime_init();
  const auto try_it = [](const std::string& name, void* memory) {
    say(name + (memory ? " got memory" : std::string(": ") + chimex_last_error()));
  };
  const auto show = [](const std::string& name) {
    void* const memory = chime_malloc(64);
    say(name + " heap + " + (memory ? std::to_string(offset(memory)) : "nothing"));
    return static_cast<char*>(memory);
  };
  char* const first = show("first");
  try_it("alignment", chime_align(is_the_other() ? 48 : 64, 64));
  show("second");
  try_it("size", chime_malloc(is_the_other() ? std::size_t{3} << 20 : 64));
  show("third");
  try_it("product", chime_calloc(is_the_other() ? ~std::size_t{0} : 1, 64));
  show("fourth");
  try_it("strictness", chime_align(is_the_other() ? 4096 : 2048, 64));
  show("fifth");
  chimex_clear_last_error();
  chime_free(is_the_other() ? first + 16 : first);
  say(std::string("free: ") + chimex_last_error());
  chimex_clear_last_error();
  chime_free(first);
  say(std::string("free of all: ") + chimex_last_error());
  show("sixth");
  chime_finalize();
}

// PE 1 has the setting of CHIME_TEST_OTHER: NAME=value.
void has_another_value() {
  if (std::strcmp(getenv("CHIME_RUN_PE"), "1") == 0) putenv(getenv("CHIME_TEST_OTHER"));
  chime_init();
}

void shows_its_size() {
  chime_init();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) say("has " + line);
  chime_finalize();
}

void binds_elsewhere() {
  chime_init();
  say("bind to itself " + std::to_string(chimex_pe_bind(me())));
  int status = chimex_pe_bind(n());
  say("bind " + std::to_string(status) + " " + chimex_last_error());
  chime_finalize();
}

// One of several PEs of this process, from its own init to its own finalize.
void thread_as_pe(int pe, int pes, const chimex_uniqueid_t& id) {
  chimex_init_attr_t attr;
  chimex_set_attr_uniqueid_args(pe, pes, &id, &attr);
  if (chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) != CHIMEX_OK) return;
  auto words = static_cast<int*>(chime_calloc(static_cast<std::size_t>(pes), sizeof(int)));
  for (int to = 0; to < pes; ++to) chime_int_p(&words[pe], pe + 1, to);
  chime_barrier_all();
  std::string seen;
  for (int from = 0; from < pes; ++from) seen += std::to_string(words[from]) + " ";
  say("sees " + seen + "at heap + " + std::to_string(offset(words)));
  std::thread helper([pe] {
    say("helper has status " + std::to_string(chimex_init_status()));
    say(std::string("helper: ") + (chime_malloc(8) ? "got memory" : chimex_last_error()));
    say("helper binds: " + std::to_string(chimex_pe_bind(pe)));
    say("helper is PE " + std::to_string(chime_my_pe()));
  });
  helper.join();
  chime_free(words);
  chime_finalize();
  say("has left with status " + std::to_string(chimex_init_status()));
}

void is_three_threads() {
  chimex_uniqueid_t id;
  if (chimex_get_uniqueid(&id) != CHIMEX_OK) return;
  std::vector<std::thread> pes;
  for (int pe = 0; pe < 3; ++pe) pes.emplace_back([=] { thread_as_pe(pe, 3, id); });
  for (std::thread& pe : pes) pe.join();
  say("status " + std::to_string(chimex_init_status()));
}

// Errors that CHIME_CHECK=1 finds, and refusals without it.
void operates_wrongly() {
  chime_init();
  auto words = static_cast<int*>(chime_malloc(4096));
  int local = 0;
  chime_int_p(words, 1, n());
  say(chimex_last_error());
  chime_int_p(&local, 1, (me() + 1) % n());
  say(chimex_last_error());
  chime_int_put(words, words, std::size_t{1} << 30, 0);
  say(chimex_last_error());
  chime_int_atomic_inc(reinterpret_cast<int*>(reinterpret_cast<char*>(words) + 1), 0);
  say(chimex_last_error());
  chime_int_p(words, 5, (me() + 1) % n());
  chime_barrier_all();
  say("then sees " + std::to_string(*words));
  chime_finalize();
}

void moves_more_than_memory_holds() {
  chime_init();
  auto words = static_cast<int*>(chime_malloc(4096));
  int local = 0;
  // Each is 4 bytes if its size is taken modulo 2^64.
  const std::size_t of_ints = (std::size_t{1} << 62) + 1;
  chime_int_put(words, &local, of_ints, 0);
  say(std::string("put: ") + chimex_last_error());
  chime_int_get_nbi(&local, words, of_ints, 0);
  say(std::string("get: ") + chimex_last_error());
  chime_put32(words, &local, of_ints, 0);
  say(std::string("put32: ") + chimex_last_error());
  chimex_int_put_on_stream(words, &local, of_ints, 0, nullptr);
  say(std::string("stream: ") + chimex_last_error());
  chime_int_iput(words, &local, PTRDIFF_MAX, 1, 5, 0);
  say(std::string("iput: ") + chimex_last_error());
  chime_finalize();
}

// Each begins in the heap and ends far beyond it.
void reaches_beyond_the_heap() {
  chime_init();
  auto words = static_cast<int*>(chime_malloc(4096));
  std::vector<int> local(16);
  auto signal = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  const int other = (me() + 1) % n();
  const std::size_t huge = std::size_t{1} << 40;
  const auto told = [](const char* call) { say(std::string(call) + ": " + chimex_last_error()); };
  chime_int_put(words, local.data(), huge, other);
  told("put");
  chime_int_put_nbi(words, local.data(), (std::size_t{1} << 62) + 1, other);
  told("put_nbi");
  chime_int_get(local.data(), words, huge, other);
  told("get");
  chime_getmem_nbi(local.data(), words, SIZE_MAX - 5, other);
  told("getmem_nbi");
  chime_int_iput(words, local.data(), std::ptrdiff_t{1} << 38, 1, 3, other);
  told("iput");
  chime_int_iget(local.data(), words, 1, PTRDIFF_MAX, 3, other);
  told("iget");
  chime_int_put_signal(words, local.data(), huge, signal, 1, CHIME_SIGNAL_SET, other);
  told("put_signal");
  chime_int_p(reinterpret_cast<int*>(chime::context().pe.heap + chime::context().pe.heap_bytes - 2),
              1, 0);
  told("p");
  // The last byte of the heap is in it.
  chime_putmem(chime::context().pe.heap + chime::context().pe.heap_bytes - 8, local.data(), 8,
               other);
  chime_barrier_all();
  say("came back, signal " + std::to_string(*signal));
  chime_finalize();
}

void says_nothing_to_nobody() {
  chime_init();
  auto words = static_cast<int*>(chime_malloc(4096));
  chime_int_put(words, words, 0, n());
  say(std::string("put: ") + chimex_last_error());
  chime_int_iget(words, words, 1, 1, 0, -1);
  say(std::string("iget: ") + chimex_last_error());
  chime_int_put(words, words, 0, 0);
  say("came back");
  chime_finalize();
}

void signals_in_an_unknown_way() {
  chime_init();
  auto word = static_cast<std::uint64_t*>(chime_calloc(2, sizeof(std::uint64_t)));
  chime_uint64_put_signal(word + 1, word + 1, 1, word, 7, 42, 0);
  say(std::string("put_signal: ") + chimex_last_error());
  chimex_signal_op(word, 7, -1, 0);
  say(std::string("signal_op: ") + chimex_last_error());
  say("the word is " + std::to_string(*word));
  chime_finalize();
}

// Calls each family wrongly, and prints the name in the error.
void calls_every_family_wrongly() {
  chime_init();
  static std::uint64_t outside;
  std::size_t found[1];
  auto word = static_cast<std::uint64_t*>(chime_calloc(2, sizeof(std::uint64_t)));
  auto misaligned = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(word) + 1);
  const auto told = [](auto...) { say(std::string("told ") + chimex_last_error()); };
  told((chime_uint64_put(word, word, 1, 9), 0));
  told((chime_uint64_put_nbi(word, word, 1, 9), 0));
  told((chime_uint64_get(word, word, 1, 9), 0));
  told((chime_uint64_get_nbi(word, word, 1, 9), 0));
  told((chime_uint64_p(misaligned, 1, 0), 0));
  told(chime_uint64_g(misaligned, 0));
  told((chime_uint64_iput(word, word, 1, 1, 1, 9), 0));
  told((chime_uint64_iget(word, word, 1, 1, 1, 9), 0));
  told((chime_uint64_put_signal(word, word, 1, misaligned, 1, CHIME_SIGNAL_SET, 0), 0));
  told((chime_uint64_put_signal_nbi(word, word, 1, misaligned, 1, CHIME_SIGNAL_SET, 0), 0));
  told((chimex_signal_op(misaligned, 1, CHIME_SIGNAL_SET, 0), 0));
  told((chimex_signal_op_on_stream(misaligned, 1, CHIME_SIGNAL_SET, 0, nullptr), 0));
  told(chime_signal_fetch(misaligned));
  told(chime_signal_wait_until(misaligned, CHIME_CMP_EQ, 1));
  told(chime_uint64_atomic_fetch(misaligned, 0));
  told((chime_uint64_atomic_set(misaligned, 1, 0), 0));
  told((chime_uint64_atomic_inc(misaligned, 0), 0));
  told((chime_uint64_atomic_add(misaligned, 1, 0), 0));
  told((chime_uint64_atomic_xor(misaligned, 1, 0), 0));
  told(chime_uint64_atomic_fetch_inc(misaligned, 0));
  told(chime_uint64_atomic_fetch_add(misaligned, 1, 0));
  told(chime_uint64_atomic_fetch_and(misaligned, 1, 0));
  told(chime_uint64_atomic_fetch_or(misaligned, 1, 0));
  told(chime_uint64_atomic_swap(misaligned, 1, 0));
  told(chime_uint64_atomic_compare_swap(misaligned, 1, 1, 0));
  told((chime_uint64_wait_until(misaligned, CHIME_CMP_EQ, 0), 0));
  told((chime_uint64_wait_until_all(misaligned, 1, nullptr, CHIME_CMP_EQ, 0), 0));
  told(chime_uint64_wait_until_any(misaligned, 1, nullptr, CHIME_CMP_EQ, 0));
  told(chime_uint64_wait_until_some_vector(misaligned, 1, found, nullptr, CHIME_CMP_EQ, word));
  told(chime_uint64_test(misaligned, CHIME_CMP_EQ, 0));
  told(chime_uint64_test_any(misaligned, 1, nullptr, CHIME_CMP_EQ, 0));
  told(chimex_uint64_wait_until_timeout(misaligned, CHIME_CMP_EQ, 0, 1'000'000));
  told(chimex_signal_wait_until_timeout(misaligned, CHIME_CMP_EQ, 0, 1'000'000, &outside));
  chime_finalize();
}

void say_result(const std::string& call, int result) {
  say(call + ": " + std::to_string(result) + " " + chimex_last_error());
}

void waits_wrongly() {
  chime_init();
  static int outside[2];
  static std::uint64_t signal_outside;
  auto word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  chime_int_wait_until(outside, CHIME_CMP_EQ, 0);
  say(std::string("wait: ") + chimex_last_error());
  chime_int_wait_until_all(outside, 2, nullptr, CHIME_CMP_EQ, 0);
  say(std::string("wait_all: ") + chimex_last_error());
  say_result("test", chime_int_test(outside, CHIME_CMP_EQ, 0));
  chime_signal_wait_until(&signal_outside, CHIME_CMP_EQ, 0);
  say(std::string("signal_wait: ") + chimex_last_error());
  chime_signal_fetch(&signal_outside);
  say(std::string("signal_fetch: ") + chimex_last_error());
  say_result("timeout", chimex_int_wait_until_timeout(outside, CHIME_CMP_EQ, 0, 1'000'000));
  chime_int_wait_until(word, 42, 0);
  say(std::string("wait: ") + chimex_last_error());
  say_result("test", chime_int_test(word, -3, 0));
  say_result("timeout", chimex_signal_wait_until_timeout(reinterpret_cast<std::uint64_t*>(word), 6,
                                                         0, 1'000'000, &signal_outside));
  chime_finalize();
}

void puts_to_an_unmapped_pe() {
  chime_init();
  auto word = static_cast<int*>(chime_malloc(sizeof(int)));
  chime_int_p(word, 1, (me() + 1) % n());
  say(chimex_last_error());
  chime_barrier_all();
  say(chimex_last_error());
  say(chime_ptr(word, (me() + 1) % n()) ? "mapped" : "not mapped");
  chime_finalize();
}

// ---- Two stages ---------------------------------------------------------------------------------

void join_first_stage() {
  const int status =
      chimex_init_attr(CHIMEX_INIT_WITH_LAUNCHER | CHIMEX_INIT_DEFER_DEVICE, nullptr);
  if (status != CHIMEX_OK) std::exit(status);
}

std::string number_and_status() {
  return std::to_string(chime_my_pe()) + " of " + std::to_string(chime_n_pes()) + ", status " +
         std::to_string(chimex_init_status());
}

void chooses_its_device_late() {
  join_first_stage();
  chime_init();  // it has joined already, and builds nothing
  say("is " + number_and_status());
  auto word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  say("then " + number_and_status());
  chime_int_p(word, me() + 1, (me() + 1) % n());
  chime_barrier_all();
  say("sees " + std::to_string(*word));
  chime_finalize();
  say("status " + std::to_string(chimex_init_status()));
}

void calls_for_its_device() {
  say("before init: " + std::to_string(chimex_init_device()));
  join_first_stage();
  for (int i = 0; i < 2; ++i) {
    const int built = chimex_init_device();
    say(std::to_string(built) + ": " + number_and_status());
  }
  chime_finalize();
}

// A caller that gets the context is about to use the device.
void asks_for_its_context() {
  join_first_stage();
  say("context of version " + std::to_string(chime::context().abi_version) + ", " +
      number_and_status());
  chime_finalize();
}

void leaves_after_the_first_stage() {
  join_first_stage();
  chime_finalize();
  say("status " + std::to_string(chimex_init_status()));
}

void leave_and_say_how(int pe) {
  chimex_clear_last_error();
  const auto begin = std::chrono::steady_clock::now();
  chime_finalize();
  const bool is_soon = std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);
  std::printf("PE %d left%s, status %d: %s\n", pe, is_soon ? " soon" : "", chimex_last_status(),
              chimex_last_error());
}

// Without a device; PE 1 comes `later`, unless it ends before.
void leaves_when_pe_1_does(std::chrono::milliseconds later, bool is_killed) {
  join_first_stage();
  const int pe = me();
  if (pe == 1) {
    std::this_thread::sleep_for(later);
    if (is_killed) raise(SIGKILL);
    say("comes last");
  }
  leave_and_say_how(pe);
}
void leaves_after_a_late_pe() { leaves_when_pe_1_does(std::chrono::milliseconds(700), false); }
// The PEs' progress, by files in a shared folder.
void note(const std::string& what) {
  std::ofstream(std::filesystem::path(std::getenv("CHIME_TEST_FOLDER")) / what).flush();
}
void wait_for(const std::vector<std::string>& notes) {
  const std::filesystem::path folder = std::getenv("CHIME_TEST_FOLDER");
  for (const std::string& what : notes)
    while (!std::filesystem::exists(folder / what))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// PE 1 comes when the others have gone, whenever that is.
void leaves_before_a_late_pe() {
  join_first_stage();
  const int pe = me();
  note("joined " + std::to_string(pe));
  wait_for({"joined 0", "joined 1", "joined 2"});
  if (pe == 1) wait_for({"left 0", "left 2"});
  leave_and_say_how(pe);
  note("left " + std::to_string(pe));
}
void leaves_though_one_is_killed() { leaves_when_pe_1_does(std::chrono::milliseconds(300), true); }

// The second stage fails late, after it has opened its path for meetings.
void leaves_after_the_second_failed() {
  join_first_stage();
  say(chime_malloc(8) ? "got memory" : chimex_last_error());
  leave_and_say_how(me());
}

// One thread builds it; another queries all the time whether an operation has failed. TSan detects
// a race between them.
void asks_for_errors_while_it_is_built() {
  join_first_stage();
  std::atomic<bool> is_built = false;
  std::atomic<int> failures = 0;
  std::thread builder([&] {
    failures += chimex_init_device() != CHIMEX_OK;
    is_built = true;
  });
  for (bool was_built = false; !was_built;) {
    was_built = is_built;
    chimex_async_error_t error;
    failures += chimex_get_async_error(&error) != CHIMEX_OK || error.status != CHIMEX_OK;
  }
  builder.join();
  chime_finalize();
  say(std::to_string(failures.load()) + " failures");
}

void builds_its_device_from_many_threads() {
  join_first_stage();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      if (i % 2 ? chimex_init_device() != CHIMEX_OK : chime::context().pe.heap == nullptr)
        say("a thread found no device");
    });
  for (std::thread& thread : threads) thread.join();
  say("is " + number_and_status());
  chime_finalize();
}

void has_another_heap_size_late() {
  if (std::strcmp(getenv("CHIME_RUN_PE"), "1") == 0) setenv("CHIME_SYMMETRIC_SIZE", "32M", 1);
  join_first_stage();
  say(chime_malloc(8) ? "got memory" : chimex_last_error());
  say(chime_malloc(8) ? "got memory" : "nor at a second call");
  say("status " + std::to_string(chimex_init_status()));
}

void is_killed_between_the_stages() {
  join_first_stage();
  if (me() == 1) raise(SIGKILL);
  chime_malloc(8);
  say("came back");
}

void say_status(int status) { say(std::to_string(status) + " " + chimex_last_error()); }

void gives_bad_attributes() {
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  say_status(chimex_init_attr(77, &attr));
  say_status(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, nullptr));
  say_status(chimex_set_attr_uniqueid_args(3, 3, &attr.uniqueid, &attr));
  attr.version = 77;
  say_status(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr));
}

void gives_null_pointers() {
  say_status(chimex_get_async_error(nullptr));
  chime_query_thread(nullptr);
  say(chimex_last_error());
  chime_info_get_version(nullptr, nullptr);
  say(chimex_last_error());
}

const std::map<std::string, void (*)()> kActs = {
    {"joins_and_leaves", joins_and_leaves},
    {"waits_for_a_signal", waits_for_a_signal},
    {"moves_more_than_memory_holds", moves_more_than_memory_holds},
    {"reaches_beyond_the_heap", reaches_beyond_the_heap},
    {"calls_on_after_a_failed_init", calls_on_after_a_failed_init},
    {"says_nothing_to_nobody", says_nothing_to_nobody},
    {"signals_in_an_unknown_way", signals_in_an_unknown_way},
    {"calls_every_family_wrongly", calls_every_family_wrongly},
    {"waits_wrongly", waits_wrongly},
    {"joins_three_times", joins_three_times},
    {"mallocs_before_init", mallocs_before_init},
    {"mallocs_after_finalize", mallocs_after_finalize},
    {"asks_for_different_sizes", asks_for_different_sizes},
    {"makes_different_calls", makes_different_calls},
    {"asks_for_too_much", asks_for_too_much},
    {"frees_what_it_should_not", frees_what_it_should_not},
    {"exchanges_words", exchanges_words},
    {"leaves_others_waiting", leaves_others_waiting},
    {"exits_without_finalize", exits_without_finalize},
    {"is_killed", is_killed},
    {"ends_the_job", ends_the_job},
    {"has_another_heap_size", has_another_heap_size},
    {"has_no_room_for_its_heap", has_no_room_for_its_heap},
    {"one_is_in_a_barrier", one_is_in_a_barrier},
    {"one_is_in_no_barrier", one_is_in_no_barrier},
    {"one_leaves_from_a_barrier", one_leaves_from_a_barrier},
    {"fails_on_one_pe", fails_on_one_pe},
    {"has_another_value", has_another_value},
    {"shows_its_size", shows_its_size},
    {"binds_elsewhere", binds_elsewhere},
    {"is_three_threads", is_three_threads},
    {"operates_wrongly", operates_wrongly},
    {"puts_to_an_unmapped_pe", puts_to_an_unmapped_pe},
    {"gives_bad_attributes", gives_bad_attributes},
    {"chooses_its_device_late", chooses_its_device_late},
    {"calls_for_its_device", calls_for_its_device},
    {"asks_for_its_context", asks_for_its_context},
    {"leaves_after_the_first_stage", leaves_after_the_first_stage},
    {"leaves_after_a_late_pe", leaves_after_a_late_pe},
    {"leaves_before_a_late_pe", leaves_before_a_late_pe},
    {"leaves_though_one_is_killed", leaves_though_one_is_killed},
    {"asks_for_errors_while_it_is_built", asks_for_errors_while_it_is_built},
    {"builds_its_device_from_many_threads", builds_its_device_from_many_threads},
    {"has_another_heap_size_late", has_another_heap_size_late},
    {"leaves_after_the_second_failed", leaves_after_the_second_failed},
    {"is_killed_between_the_stages", is_killed_between_the_stages},
    {"gives_null_pointers", gives_null_pointers},
};

}  // namespace

int main(int argc, char** argv) {
  auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
