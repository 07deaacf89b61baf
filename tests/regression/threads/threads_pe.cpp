// A PE whose threads use Chime at the same time, in the way named on its command line, under
// CHIME_ON_ERROR=return. threads_test.py starts jobs of these and reads the output.
#define CHIME_HOST_ONLY
#include <chime/chime.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kFailingPuts = 7500;  // of each thread

void say(const std::string& text) {
  const std::string line = "PE " + std::to_string(chime_my_pe()) + " says " + text + "\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, line.data(), line.size());
}

int next_pe() { return (chime_my_pe() + 1) % chime_n_pes(); }

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// ---- Failures belong to their caller ------------------------------------------------------------

struct Tally {
  std::atomic<int> silent{0};   // failing puts without an error for the caller
  std::atomic<int> blamed{0};   // good puts with an error for the caller
  std::atomic<int> foreign{0};  // failing puts with the error of another put
};

// Fails with a message that no other call of this process has.
void put_to_nobody(std::uint64_t* word, int pe, Tally& tally) {
  const std::uint64_t value = 0;
  chimex_clear_last_error();
  chime_putmem(word, &value, sizeof(value), pe);
  const std::string words = chimex_last_error();
  if (chimex_last_status() == CHIMEX_OK)
    ++tally.silent;
  else if (chimex_last_status() != CHIMEX_ERR_INVALID ||
           words.find("there is no PE " + std::to_string(pe) + ";") == std::string::npos)
    ++tally.foreign;
}

void put_well(std::uint64_t* word, std::uint64_t value, Tally& tally) {
  chimex_clear_last_error();
  chime_putmem(word, &value, sizeof(value), next_pe());
  if (chimex_last_status() != CHIMEX_OK || *chimex_last_error() != '\0') ++tally.blamed;
}

void put_in_turn(int thread, std::uint64_t* words, Tally& tally) {
  std::minstd_rand random(static_cast<unsigned>(thread) + 1);
  int failing = kFailingPuts;
  std::uint64_t good = 0;
  while (failing > 0) {
    if (random() % 2 == 0)
      put_well(words + thread, ++good, tally);
    else
      put_to_nobody(words + thread, 1000 + thread * kFailingPuts + --failing, tally);
  }
  put_well(words + thread, good = 77, tally);
}

void mixes_good_and_failing_puts() {
  chime_init();
  auto* const words = static_cast<std::uint64_t*>(chime_calloc(kThreads, sizeof(std::uint64_t)));
  Tally tally;
  in_threads([&](int thread) { put_in_turn(thread, words, tally); });
  chime_barrier_all();
  int whole = 0;
  for (int i = 0; i < kThreads; ++i) whole += words[i] == 77;
  say(std::to_string(tally.silent) + " silent, " + std::to_string(tally.foreign) + " foreign, " +
      std::to_string(tally.blamed) + " blamed, " + std::to_string(whole) + " words");
  chime_finalize();
  say(std::string("left: ") + chimex_last_error());
}

// ---- A queue pair that is lost ------------------------------------------------------------------

// Notifications between PEs outside the job, by files of these names.
void tell(const std::string& news) { std::ofstream("./" + news); }
bool await(const std::string& news) {
  for (int ms = 0; ms < 60'000 && access(news.c_str(), F_OK) != 0; ++ms) usleep(1000);
  return access(news.c_str(), F_OK) == 0;
}

std::uint64_t word_of(int pe) { return 100 + static_cast<std::uint64_t>(pe); }

// A thread that reads a word over the network gets either the value or the failure.
void fetch_from(int pe, std::uint64_t* word, Tally& tally, std::atomic<int>& told) {
  chimex_clear_last_error();
  const std::uint64_t value = chime_uint64_atomic_fetch(word, pe);
  const int status = chimex_last_status();
  if (status == CHIMEX_OK)
    tally.silent += value != word_of(pe);
  else if (pe != 1)
    ++tally.blamed;
  else if (status != CHIMEX_ERR_NETWORK)
    ++tally.foreign;
  else
    ++told;
}

// The queue pair of PE 0's host operations to PE 1 is lost after a while; PE 2's stays intact.
void fetches_over_a_lost_queue(const char* rule) {
  const bool is_reader = std::string(getenv("CHIME_RUN_PE")) == "0";
  if (is_reader) setenv("SOFTNIC_FAULTS", rule, 1);
  chime_init();
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  *word = word_of(chime_my_pe());
  chime_barrier_all();
  if (is_reader) {
    Tally tally;
    std::atomic<int> told = 0;
    in_threads([&](int) {
      for (int i = 0; i < 100; ++i) {
        fetch_from(1, word, tally, told);
        fetch_from(2, word, tally, told);
      }
    });
    say(std::to_string(tally.silent) + " silent, " + std::to_string(tally.foreign) + " foreign, " +
        std::to_string(tally.blamed) + " blamed");
    say(std::string("told: ") + (told >= kThreads ? "all" : "not all"));
    tell("done");
  }
  _exit(await("done") ? 0 : 1);  // other tests check finalize's messages about lost queues
}

// ---- Threads beside finalize --------------------------------------------------------------------

// Puts until `is_over`.
void keep_putting(std::uint64_t* word, const std::atomic<bool>& is_over) {
  std::uint64_t value = 0;
  while (!is_over) {
    chime_putmem(word, &value, sizeof(value), chime_my_pe());
    ++value;
  }
}

// True if finalize found the thread in its wait; it may come too early for that.
bool finalize_fails_beside_a_wait() {
  chime_init();
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  std::atomic<bool> has_begun = false;
  std::thread other([&] {
    has_begun = true;
    chime_uint64_wait_until(word, CHIME_CMP_EQ, 1);
  });
  while (!has_begun) std::this_thread::yield();
  chime_finalize();
  const bool has_failed = chimex_init_status() == CHIME_STATUS_IS_INITIALIZED;
  if (has_failed) {
    say(std::string("finalize: ") + chimex_last_error());
    chime_uint64_p(word, 1, chime_my_pe());
  }
  other.join();
  if (has_failed) chime_finalize();
  return has_failed;
}

void finalizes_beside_a_wait() {
  for (int round = 0; round < 1000; ++round)
    if (finalize_fails_beside_a_wait()) break;
  say("status " + std::to_string(chimex_init_status()));
}

// Usually crashed: the heap was unmapped while the other thread wrote into it.
void finalizes_beside_puts() {
  for (int round = 0; round < 20; ++round) {
    chime_init();
    auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
    std::atomic<bool> is_over = false;
    std::thread other([&] { keep_putting(word, is_over); });
    chime_finalize();
    is_over = true;
    other.join();
    if (chimex_init_status() > 0) chime_finalize();
  }
  say("went on");
}

// On PE 0 a second thread puts while chime_finalize waits for PE 1. PE 1 comes when a put has
// failed.
void puts_while_finalize_waits() {
  chime_init();
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  if (chime_my_pe() != 0) {
    if (!await("failed")) say("no put failed");
    return chime_finalize();
  }
  std::thread other([&] {
    const std::uint64_t value = 0;
    do {
      usleep(1000);  // mostly outside of calls, so that finalize may begin
      chime_putmem(word, &value, sizeof(value), 0);
    } while (chimex_last_status() == CHIMEX_OK);
    say(std::string("put: ") + chimex_last_error());
    tell("failed");
  });
  while (chimex_init_status() == CHIME_STATUS_IS_INITIALIZED) chime_finalize();
  other.join();
}

const std::map<std::string, void (*)()> kActs = {
    {"mixes_good_and_failing_puts", mixes_good_and_failing_puts},
    {"finalizes_beside_a_wait", finalizes_beside_a_wait},
    {"finalizes_beside_puts", finalizes_beside_puts},
    {"puts_while_finalize_waits", puts_while_finalize_waits},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "fetches_over_a_lost_queue")
    fetches_over_a_lost_queue(argv[2]);
  const auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
