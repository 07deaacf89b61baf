// A PE of a job on several hosts that makes all calls of Chime that move no data: init, collective
// allocation, finalize. Files that all hosts of a test share show the progress of each PE. Or one
// that sends data round a ring, by whatever path leads there.
//
//   multi_host_pe meets <folder>
//   multi_host_pe meets <folder> <PE> <number of PEs>    by a unique id, which PE 0 leaves there
//   multi_host_pe waits                                   for PE 0, which sleeps
//   multi_host_pe listens <folder>                        for a signal that no PE sends
//   multi_host_pe sends <number of rounds>                a block to the next PE in each
#include <chime/chime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kRounds = 3;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "PE %d: %s: %s\n", chime_my_pe(), why.c_str(), chimex_last_error());
  std::exit(1);
}

chimex_uniqueid_t made_id(const fs::path& file) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  if (chimex_get_uniqueid(&id) != CHIMEX_OK) fail("no unique id");
  std::ofstream(file.string() + ".new", std::ios::binary)
      .write(reinterpret_cast<char*>(&id), sizeof id);
  fs::rename(file.string() + ".new", file);
  return id;
}

chimex_uniqueid_t found_id(const fs::path& file) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  while (!fs::exists(file)) std::this_thread::sleep_for(10ms);
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&id), sizeof id);
  return id;
}

void init_by_unique_id(const fs::path& folder, int pe, int n_pes) {
  const auto id = pe == 0 ? made_id(folder / "id") : found_id(folder / "id");
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  chimex_set_attr_uniqueid_args(pe, n_pes, &id, &attr);
  if (chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) != CHIMEX_OK) fail("init");
}

// A collective call meets all PEs: when it returns on one PE, all have called it.
void* allocate(const fs::path& folder, int round) {
  const auto mark = [&](int pe) {
    return folder / ("came." + std::to_string(round) + "." + std::to_string(pe));
  };
  std::this_thread::sleep_for(1ms * ((chime_my_pe() * 7 + round * 5) % 20));
  std::ofstream(mark(chime_my_pe())).flush();
  void* const memory = chime_malloc(1000u << round);
  if (memory == nullptr) fail("no memory");
  for (int pe = 0; pe < chime_n_pes(); ++pe)
    if (!fs::exists(mark(pe))) fail("it came back before PE " + std::to_string(pe) + " came");
  return memory;
}

void allocate_and_say_place(const fs::path& folder) {
  for (int round = 0; round < kRounds; ++round) {
    void* const memory = allocate(folder, round);
    void* const zeroes = chime_calloc(100, 8);
    if (zeroes == nullptr) fail("no memory");
    chime_free(zeroes);
    chime_free(memory);
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::printf("PE %d of %d on %s, %d of %d there\n", chime_my_pe(), chime_n_pes(), host,
              chimex_node_my_pe(), chimex_node_n_pes());
}

void wait_for_pe_0() {
  std::printf("ready\n");
  std::fflush(stdout);
  if (chime_my_pe() == 0) std::this_thread::sleep_for(1000s);
  chime_free(chime_malloc(8));
}

// Replaces a launcher's pipe: the launcher may be cut off, or end a PE before its output has come.
void say_it_in_a_file(const fs::path& file) {
  if (!std::freopen(file.c_str(), "a", stderr)) fail("no file for what is said");
  std::setvbuf(stderr, nullptr, _IONBF, 0);
}

void listen_in_vain(const fs::path& folder) {
  say_it_in_a_file(folder / std::to_string(chime_my_pe()));
  auto* const signal = static_cast<std::uint64_t*>(chime_calloc(1, 8));
  if (signal == nullptr) fail("no memory");
  std::fprintf(stderr, "ready\n");
  chime_signal_wait_until(signal, CHIME_CMP_EQ, 1);
  for (;;) std::this_thread::sleep_for(1s);  // where the wait ends and the job goes on
}

constexpr int kWords = 4096;

// Prints "ready" after the first round, and "sent all" after the last, if all data arrived as sent.
void send_round_a_ring(int rounds) {
  const auto of = [](int pe, int round, int i) {
    return static_cast<std::uint64_t>(pe) << 40 | static_cast<std::uint64_t>(round) << 16 |
           static_cast<std::uint64_t>(i);
  };
  auto* const memory = static_cast<std::uint64_t*>(chime_calloc(2 * kWords + 1, 8));
  if (memory == nullptr) fail("no memory");
  std::uint64_t *const inbox = memory, *const outbox = memory + kWords,
                       *const signal = memory + 2 * kWords;
  const int me = chime_my_pe(), n = chime_n_pes(), before = (me + n - 1) % n;
  for (int round = 1; round <= rounds; ++round) {
    for (int i = 0; i < kWords; ++i) outbox[i] = of(me, round, i);
    const auto number = static_cast<std::uint64_t>(round);
    chime_putmem_signal(inbox, outbox, kWords * 8, signal, number, CHIME_SIGNAL_SET, (me + 1) % n);
    chime_signal_wait_until(signal, CHIME_CMP_EQ, number);
    for (int i = 0; i < kWords; ++i)
      if (inbox[i] != of(before, round, i)) fail("other data than was sent");
    chime_barrier_all();
    if (round == 1) std::printf("ready\n"), std::fflush(stdout);
  }
  std::printf("sent all\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (argc == 5)
    init_by_unique_id(argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
  else
    chime_init();
  if (chimex_init_status() < CHIME_STATUS_IS_INITIALIZED) fail("init");
  if (what == "waits")
    wait_for_pe_0();
  else if (what == "listens")
    listen_in_vain(argv[2]);
  else if (what == "sends")
    send_round_a_ring(std::atoi(argv[2]));
  else
    allocate_and_say_place(argv[2]);
  chime_finalize();
}
