// Three PEs exchange messages through NICs, one of which has a fault: nic_faults <faulty PE> <rule>
// <folder> [<from>><to>...]. nic_faults_test.py starts it and reads each PE's verdict.
//
// Every PE sends to both others, each direction in a kernel on its own stream. The named directions
// are doomed: their senders go on until Chime ends their kernel, so that they are certain to meet
// the fault; their receivers take what arrives. A sender whose direction ends in '!' sends its
// messages and a signal, and then waits for an answer that no PE sends. All others must end by
// themselves with every message whole. The PEs end together, so that no NIC leaves while another
// works.
#include <chime/chime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace exec = chime::exec;
using std::chrono::steady_clock;

namespace {

constexpr int kPes = 3;
constexpr int kRounds = 20;
constexpr int kWords = 128;
constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);
constexpr std::uint64_t kDoomedWaitNs = 2'000'000'000;  // without a message: no more will come
constexpr auto kTogether = std::chrono::seconds(100);

// Symmetric. Each sender and round has its own slot: no other data overwrites it.
struct Mail {
  std::uint64_t inbox[kPes][kRounds][kWords];
  std::uint64_t outbox[kRounds][kWords];
  std::uint64_t signal[kPes];  // by sender: the round that has arrived
  std::uint64_t question, answer;
};

struct Received {
  int rounds;  // whose signal arrived
  int torn;    // of these, the rounds with an incomplete payload
};

CHIME_HOST_DEVICE std::uint64_t word_of(int sender, int round, int i) {
  return static_cast<std::uint64_t>(sender + 1) * 1'000'000 +
         static_cast<std::uint64_t>(round * 1000 + i);
}

// Every fourth send waits for the queue to this peer. No PE calls chime_quiet: it waits for all
// peers, and fails with the lost one. PE 1 adds to its signals, by atomics, the others set them.
CHIME_DEVICE void send_round(Mail* mail, int peer, int round) {
  const int me = chime_my_pe();
  std::uint64_t* const there = mail->inbox[me][round - 1];
  const std::uint64_t* const here = mail->outbox[round - 1];
  const bool adds = me == 1;
  const std::uint64_t value = adds ? 1 : static_cast<std::uint64_t>(round);
  const int op = adds ? CHIME_SIGNAL_ADD : CHIME_SIGNAL_SET;
  if (round % 4 == 0)
    chime_putmem_signal(there, here, kBytes, &mail->signal[me], value, op, peer);
  else
    chime_putmem_signal_nbi(there, here, kBytes, &mail->signal[me], value, op, peer);
}

CHIME_KERNEL void send(Mail* mail, int peer, std::uint64_t doomed_ns, bool waits) {
  const std::uint64_t end = exec::clock_ns() + doomed_ns;
  for (int round = 1; round <= kRounds; ++round) send_round(mail, peer, round);
  if (waits) {
    chimex_signal_op(&mail->question, 1, CHIME_SIGNAL_SET, peer);
    chime_signal_wait_until(&mail->answer, CHIME_CMP_EQ, 1);
  }
  while (exec::clock_ns() < end) send_round(mail, peer, kRounds);
}

CHIME_KERNEL void receive(Mail* mail, int peer, bool doomed, Received* received) {
  for (int round = 1; round <= kRounds; ++round) {
    const auto expected = static_cast<std::uint64_t>(round);
    std::uint64_t seen = 0;
    if (!doomed)
      chime_signal_wait_until(&mail->signal[peer], CHIME_CMP_GE, expected);
    else if (chimex_signal_wait_until_timeout(&mail->signal[peer], CHIME_CMP_GE, expected,
                                              kDoomedWaitNs, &seen) != 0)
      return;
    received->rounds = round;
    bool whole = true;
    for (int i = 0; i < kWords; ++i)
      whole = whole && mail->inbox[peer][round - 1][i] == word_of(peer, round, i);
    received->torn += whole ? 0 : 1;
  }
}

struct Plan {
  int faulty_pe;
  std::string rule, folder;
  std::uint64_t doomed_ns;
  std::vector<std::string> doomed;

  bool waits(int from, int to) const { return names(from, to, "!"); }
  bool dooms(int from, int to) const { return names(from, to, "") || waits(from, to); }

 private:
  bool names(int from, int to, const char* mark) const {
    for (const std::string& way : doomed)
      if (way == std::to_string(from) + ">" + std::to_string(to) + mark) return true;
    return false;
  }
};

// Runs `kernel` in one thread, on a separate stream.
template <class... P, class... A>
exec::Stream start(void (*kernel)(P...), A... arguments) {
  exec::LaunchConfig config;
  if (exec::stream_create(&config.stream) != CHIMEX_OK ||
      exec::launch(config, kernel, arguments...) != CHIMEX_OK) {
    std::fprintf(stderr, "cannot launch: %s\n", exec::last_error());
    std::exit(1);
  }
  return config.stream;
}

// Waits until all PEs have come, by files: Chime's own paths may be broken.
bool meet(const std::string& folder, int me) {
  std::ofstream(folder + "/" + std::to_string(me)).flush();
  const auto deadline = steady_clock::now() + kTogether;
  for (int pe = 0; pe < kPes; ++pe)
    while (!std::filesystem::exists(folder + "/" + std::to_string(pe))) {
      if (steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  return true;
}

std::string quoted(const char* text) {
  std::string line = "\"";
  for (; *text; ++text) line += *text == '"' || *text == '\\' || *text < ' ' ? '\'' : *text;
  return line + "\"";
}

int run(const Plan& plan) {
  chime_init();
  const int me = chime_my_pe();
  auto* mail = static_cast<Mail*>(chime_calloc(1, sizeof(Mail)));
  for (int round = 1; round <= kRounds; ++round)
    for (int i = 0; i < kWords; ++i) mail->outbox[round - 1][i] = word_of(me, round, i);

  const auto begun = steady_clock::now();
  Received received[kPes] = {};
  std::vector<exec::Stream> streams;
  for (int peer = 0; peer < kPes; ++peer) {
    if (peer == me) continue;
    const std::uint64_t doomed_ns = plan.dooms(me, peer) ? plan.doomed_ns : 0;
    streams.push_back(start(send, mail, peer, doomed_ns, plan.waits(me, peer)));
    streams.push_back(start(receive, mail, peer, plan.dooms(peer, me), &received[peer]));
  }
  for (exec::Stream stream : streams) exec::stream_synchronize(stream);
  const std::chrono::duration<double> seconds = steady_clock::now() - begun;

  chimex_async_error_t error{};
  chimex_get_async_error(&error);
  std::printf(
      "verdict {\"pe\": %d, \"seconds\": %.2f, \"status\": %d, \"peer\": %d, \"message\": %s", me,
      seconds.count(), error.status, error.pe, quoted(error.message).c_str());
  for (int peer = 0; peer < kPes; ++peer)
    std::printf(", \"rounds_%d\": %d, \"torn_%d\": %d", peer, received[peer].rounds, peer,
                received[peer].torn);
  std::printf("}\n");
  std::fflush(stdout);
  if (!meet(plan.folder, me)) {
    std::fprintf(stderr, "PE %d: the others did not end\n", me);
    return 1;
  }
  if (!plan.doomed.empty()) _exit(0);  // other tests check finalize's messages about lost queues
  chime_finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const pe = std::getenv("CHIME_RUN_PE");
  if (argc < 5 || pe == nullptr) return 2;
  const Plan plan{std::atoi(argv[1]),
                  argv[2],
                  argv[3],
                  std::strtoull(argv[4], nullptr, 10) * 1'000'000'000,
                  {argv + 5, argv + argc}};
  if (std::atoi(pe) == plan.faulty_pe) {
    setenv("SOFTNIC_FAULTS", plan.rule.c_str(), 1);
    setenv("SOFTNIC_COUNTERS", "-", 1);
  }
  return run(plan);
}
