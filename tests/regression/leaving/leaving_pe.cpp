// A PE that leaves its job, or tries to join it, in the way named on its command line.
// leaving_test.py starts jobs of these and reads the output.
#include <chime/chime.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

namespace exec = chime::exec;

namespace {

void say(const std::string& text) {
  std::string line = "PE " + std::to_string(chime_my_pe()) + " says " + text + "\n";
  [[maybe_unused]] auto written = write(STDOUT_FILENO, line.data(), line.size());
}

// ---- Leaving ------------------------------------------------------------------------------------

// As after a failed exec: the child runs the handlers of atexit.
void forks_a_child_that_exits() {
  chime_init();
  if (chime_my_pe() == 0) {
    const pid_t child = fork();
    if (child == 0) exit(3);
    int status = 0;
    waitpid(child, &status, 0);
    say("child ended with " + std::to_string(WEXITSTATUS(status)));
  }
  chime_barrier_all();
  say("went on");
  chime_finalize();
}

CHIME_KERNEL void put_to(int* word, int pe) { chime_int_p(word, 1, pe); }

void leave_with_an_error_pending() {
  auto* word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  if (chime_my_pe() == 0) {
    exec::launch({}, put_to, word, 99);
    exec::device_synchronize();
  }
  chime_finalize();
  say(std::string("left: ") + chimex_last_error());
}

void leaves_with_an_error_pending() {
  chime_init();
  leave_with_an_error_pending();
}

// What failed calls do is said by the program, not by the environment.
void init_with_behaviour(const char* on_error, unsigned flags) {
  const chimex_setting_t setting{"CHIME_ON_ERROR", on_error};
  chimex_config_t config = CHIMEX_CONFIG_INITIALIZER;
  config.count = 1;
  config.settings = &setting;
  if (chimex_init_config(flags, nullptr, &config) != CHIMEX_OK) std::exit(3);
}

void leaves_by_its_settings_with_an_error_pending() {
  init_with_behaviour("return", CHIMEX_INIT_WITH_LAUNCHER);
  leave_with_an_error_pending();
}

// PE 1 does not come; it ends with the job.
void leaves_without_another(const char* on_error) {
  init_with_behaviour(on_error, CHIMEX_INIT_WITH_LAUNCHER | CHIMEX_INIT_DEFER_DEVICE);
  if (chime_my_pe() == 1) {
    for (;;) pause();
  }
  chime_finalize();
  say(std::string("left: ") + chimex_last_error());
  exit(5);
}
void leaves_without_another_and_returns() { leaves_without_another("return"); }
void leaves_without_another_and_exits() { leaves_without_another("exit"); }

void exits_with_an_error_pending() {
  chime_init();
  auto* word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  if (chime_my_pe() == 0) {
    exec::launch({}, put_to, word, 99);
    exec::device_synchronize();
  }
  exit(0);
}

CHIME_KERNEL void wait_for_signal(uint64_t* signal) {
  chime_signal_wait_until(signal, CHIME_CMP_GE, 1);
}

CHIME_KERNEL void write_until(int* words, const int* stop) {
  const std::atomic_ref<int> must_stop(const_cast<int&>(*stop));
  for (int i = 0; must_stop.load(std::memory_order_relaxed) == 0; i = (i + 1) % 64) {
    std::atomic_ref(words[i]).store(i, std::memory_order_relaxed);
    exec::pause();
  }
}

void leaves_while_a_kernel_waits() {
  chime_init();
  auto* signal = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  exec::launch({}, wait_for_signal, signal);
  chime_finalize();
  say(std::string("left: ") + chimex_last_error());
  say(std::string("kernel ended: ") + (exec::device_synchronize() == CHIMEX_OK ? "yes" : "no"));
}

// Nothing ends this kernel: its memory must stay.
void leaves_while_a_kernel_writes() {
  static int stop = 0;
  chime_init();
  auto* words = static_cast<int*>(chime_calloc(64, sizeof(int)));
  exec::launch({}, write_until, words, &stop);
  chime_finalize();
  say(std::string("left: ") + chimex_last_error());
  std::atomic_ref(stop).store(1);
  exec::device_synchronize();
  say("kernel ended: yes");
}

// The stream's last work is a kernel that ends soon, measured by the clock: a number of turns would
// take longer on a busy machine.
CHIME_KERNEL void work_for(uint64_t ns, int* word, int* has_ended) {
  const uint64_t end = exec::clock_ns() + ns;
  for (int i = 0; exec::clock_ns() < end; ++i) {
    std::atomic_ref(*word).store(i, std::memory_order_relaxed);
    exec::pause();
  }
  std::atomic_ref(*has_ended).store(1);
}

void leaves_while_a_kernel_ends() {
  static int has_ended = 0;
  constexpr uint64_t kNs = 500'000'000;
  chime_init();
  auto* word = static_cast<int*>(chime_calloc(1, sizeof(int)));
  exec::Stream stream;
  exec::stream_create(&stream);
  exec::launch({.stream = stream}, work_for, kNs, word, &has_ended);
  exec::stream_destroy(stream);  // queued work still runs
  chime_finalize();
  say(std::string("left, kernel ended: ") + (std::atomic_ref(has_ended).load() ? "yes" : "no"));
}

void exits_with(int status) {
  chime_init();
  if (chime_my_pe() == 1) chime_global_exit(status);
  chime_barrier_all();
}
// Its local peers learn of the exit in its exit handlers and may end before it.
void exits_with_3_and_stays_a_while() {
  atexit([] { usleep(300'000); });  // runs last: registered before Chime's
  chime_init();
  if (chime_my_pe() == 1) exit(3);
  chime_barrier_all();
}
// The launcher's thread that watches processes gets a processor late; the thread that receives the
// abort does not.
void exits_when_its_local_peer_is_killed() {
  chime_init();
  for (int i = 0; i < 4 && chime_my_pe() == 0; ++i)
    std::thread([] {
      for (std::atomic<unsigned> turns = 0;; ++turns) {
      }
    }).detach();
  chime_barrier_all();
  if (chime_my_pe() == 1) {
    setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 19);
    raise(SIGKILL);
  }
  chime_barrier_all();
  chime_global_exit(1);
}
void exits_with_256() { exits_with(256); }
void exits_with_minus_512() { exits_with(-512); }
void exits_with_300() { exits_with(300); }

// ---- Joining ------------------------------------------------------------------------------------

// PE 1 comes after PE 0 has given up once; then both retry until they join.
void joins_again() {
  const bool is_late = std::string(getenv("CHIME_RUN_PE")) == "1";
  if (is_late) sleep(2);
  int provided = 0;
  for (int attempt = 1; attempt <= 40; ++attempt) {
    const int status = chime_init_thread(CHIME_THREAD_MULTIPLE, &provided);
    if (status == CHIMEX_OK) {
      chime_barrier_all();
      say("joined");
      return chime_finalize();
    }
    say("attempt " + std::to_string(attempt) + ": " + chimex_last_error());
  }
}

// As on a machine so busy that the launcher does not run for seconds.
void joins_while_its_launcher_stands_still() {
  constexpr unsigned kSeconds = 4;
  const pid_t launcher = getppid();
  const bool is_first = std::string(getenv("CHIME_RUN_PE")) == "0";
  if (is_first && fork() == 0) {
    sleep(kSeconds);
    kill(launcher, SIGCONT);
    _exit(0);
  }
  if (is_first) kill(launcher, SIGSTOP);
  const uint64_t begin = exec::clock_ns();
  chime_init();
  if (is_first) say("waited " + std::to_string((exec::clock_ns() - begin) / 1'000'000'000) + " s");
  chime_barrier_all();
  say("joined");
  chime_finalize();
}

const std::map<std::string, void (*)()> kActs = {
    {"forks_a_child_that_exits", forks_a_child_that_exits},
    {"exits_with_an_error_pending", exits_with_an_error_pending},
    {"leaves_by_its_settings_with_an_error_pending", leaves_by_its_settings_with_an_error_pending},
    {"leaves_with_an_error_pending", leaves_with_an_error_pending},
    {"leaves_without_another_and_returns", leaves_without_another_and_returns},
    {"leaves_without_another_and_exits", leaves_without_another_and_exits},
    {"leaves_while_a_kernel_waits", leaves_while_a_kernel_waits},
    {"leaves_while_a_kernel_writes", leaves_while_a_kernel_writes},
    {"leaves_while_a_kernel_ends", leaves_while_a_kernel_ends},
    {"exits_with_3_and_stays_a_while", exits_with_3_and_stays_a_while},
    {"exits_when_its_local_peer_is_killed", exits_when_its_local_peer_is_killed},
    {"exits_with_256", exits_with_256},
    {"exits_with_minus_512", exits_with_minus_512},
    {"exits_with_300", exits_with_300},
    {"joins_again", joins_again},
    {"joins_while_its_launcher_stands_still", joins_while_its_launcher_stands_still},
};

}  // namespace

int main(int argc, char** argv) {
  const auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
