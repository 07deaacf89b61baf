// A PE of a job in which one PE is late for a collective call: later than CHIME_TIMEOUT, or by just
// that time, or it has come and is stopped before it can see that all have. It prints the result of
// each call; collective_test.py compares.
#define CHIME_HOST_ONLY
#include <chime/abi/context.h>
#include <chime/chime.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

void say(int pe, const std::string& text) {
  const std::string line = "PE " + std::to_string(pe) + " says " + text + "\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, line.data(), line.size());
}

std::string place(const void* memory) {
  if (!memory) return "nothing";
  const auto* at = static_cast<const std::byte*>(memory);
  return "heap + " + std::to_string(at - chime::context().pe.heap);
}

// "first: nothing after 0.5 s: chime_malloc: ..."
void allocate(const std::string& name, std::size_t bytes) {
  const auto begin = Clock::now();
  const std::string got = place(chime_malloc(bytes));
  const std::chrono::duration<double> took = Clock::now() - begin;
  say(chime_my_pe(), name + ": " + got + " after " + std::to_string(took.count()) +
                         " s: " + (got == "nothing" ? chimex_last_error() : ""));
}

// The last PE is late by `seconds`; then all PEs allocate again.
void is_late(double seconds) {
  chime_init();
  allocate("before", 64);
  if (chime_my_pe() == chime_n_pes() - 1)
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  allocate("first", 64);
  allocate("second", 128);
  chime_finalize();
  say(-1, std::string("left: ") + chimex_last_error());
}

// Many rounds: the last PE comes when the others' time is just over, or just before that.
void comes_at_the_last_moment(int rounds, double timeout) {
  for (int round = 0; round < rounds; ++round) {
    chime_init();
    const int me = chime_my_pe();
    const double late = timeout + 0.0005 * (round % 9 - 4);
    if (me == chime_n_pes() - 1) std::this_thread::sleep_for(std::chrono::duration<double>(late));
    const std::string got = place(chime_malloc(64));
    say(me, "round " + std::to_string(round) + ": " + got);
    chime_finalize();
  }
}

// Notifications between PEs outside the job, by files of these names.
void tell(const std::string& news) { std::ofstream("./" + news); }
void await(const std::string& news) {
  for (int ms = 0; ms < 60'000 && access(news.c_str(), F_OK) != 0; ++ms) usleep(1000);
}

// "T": the process, with all its threads, is stopped. A signal reaches them one after another.
bool is_stopped(pid_t pid) {
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::string stat;
    std::getline(std::ifstream(thread.path() / "stat"), stat);
    if (stat.find(") T ") == std::string::npos) return false;
  }
  return true;
}

// A child stops this process after a second, when it is in its next call, and continues it when all
// others have given up the call after that.
void be_stopped_meanwhile(int n_pes) {
  if (fork() != 0) return;
  sleep(1);
  kill(getppid(), SIGSTOP);
  while (!is_stopped(getppid())) usleep(1000);
  tell("stopped");
  for (int pe = 1; pe < n_pes; ++pe) await("given_up." + std::to_string(pe));
  kill(getppid(), SIGCONT);
  _exit(0);
}

// PE 0 has come to the first call when it is stopped. The last PE comes after that, so that the
// call meets; the others go on to the second, and give it up without PE 0.
void is_stopped_after_it_came() {
  chime_init();
  allocate("before", 64);
  const int me = chime_my_pe();
  if (me == 0) be_stopped_meanwhile(chime_n_pes());
  if (me == chime_n_pes() - 1) await("stopped");
  allocate("first", 64);
  allocate("second", 128);
  if (me != 0) tell("given_up." + std::to_string(me));
  chime_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string("late")) is_late(std::atof(argv[2]));
  if (argc == 2 && argv[1] == std::string("stopped")) is_stopped_after_it_came();
  if (argc == 4 && argv[1] == std::string("race"))
    comes_at_the_last_moment(std::atoi(argv[2]), std::atof(argv[3]));
}
