// A PE that reports its activity on SIGUSR1. asked_test.py starts jobs of these.
//
//   asked hangs          in a barrier that PE 1 does not reach; alone: in a kernel
//   asked own_handler    signals itself; the handler was installed before chime_init
//   asked later_handler  likewise; it was installed after chime_init
//   asked leaves         the owner of the signal before, between and after two jobs of one process
//   asked forks          signals a child
#include <chime/chime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace exec = chime::exec;

namespace {

std::atomic<int> heard{0};

void hear(int) { ++heard; }

void ask_myself() {
  kill(getpid(), SIGUSR1);
  std::printf("my own handler heard %d\n", heard.load());
}

const char* whose_signal() {
  struct sigaction now;
  sigaction(SIGUSR1, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL ? "the system's" : "Chime's";
}

CHIME_KERNEL void wait_for_ever(uint64_t* word) { chime_signal_wait_until(word, CHIME_CMP_EQ, 1); }

void hang() {
  chime_init();
  auto* word = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  if (chime_n_pes() > 1) chime_uint64_p(word, 7, 1 - chime_my_pe());
  chime_quiet();
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  if (chime_my_pe() == 1)
    for (;;) pause();
  if (chime_n_pes() > 1) chime_barrier_all();
  exec::launch({}, wait_for_ever, word);
  exec::device_synchronize();
}

void leave() {
  std::printf("%s", whose_signal());
  for (int round = 0; round < 2; ++round) {
    chime_init();
    std::printf(", %s", whose_signal());
    chime_finalize();
    std::printf(", %s", whose_signal());
  }
  std::printf("\n");
}

void ask_a_child() {
  chime_init();
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("the child was ended by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  chime_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "hangs") hang();
  if (what == "leaves") leave();
  if (what == "forks") ask_a_child();
  if (what == "own_handler") {
    signal(SIGUSR1, hear);
    chime_init();
    ask_myself();
    chime_finalize();
    ask_myself();
  }
  if (what == "later_handler") {
    chime_init();
    signal(SIGUSR1, hear);
    ask_myself();
    chime_finalize();
    ask_myself();
  }
}
