// A failure is reported while a kernel still waits and no call queries it: unreported <case>. In a
// kernel PE 0 makes an operation that fails, and waits for a word that PE 1 sets after a while.
// unreported_test.py starts it, and checks that the report came before the wait was over.
//
//   nic, fabric   a put that cannot be carried out; over the fabric to PE 2, which is stopped
//   argument      a put to an address that is not symmetric
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace exec = chime::exec;

namespace {

constexpr unsigned kAWhile = 6;  // seconds

struct Words {
  std::uint64_t data, signal;
};

CHIME_KERNEL void fail_and_wait(Words* words, std::uint64_t* outside, int peer) {
  chime_putmem_nbi(outside != nullptr ? outside : &words->data, &words->data, 8, peer);
  chime_signal_wait_until(&words->signal, CHIME_CMP_EQ, 1);
}

int fail_beside_a_wait(const std::string& what, Words* words) {
  std::uint64_t not_symmetric = 0;
  exec::launch({}, fail_and_wait, words, what == "argument" ? &not_symmetric : nullptr,
               what == "fabric" ? 2 : 1);
  exec::device_synchronize();
  if (words->signal != 1) return 1;
  std::fprintf(stderr, "the wait is over\n");
  chime_quiet();
  std::fprintf(stderr, "status %d\n", chimex_last_status());
  return 0;
}

int set_the_word(Words* words) {
  sleep(kAWhile);
  chimex_signal_op(&words->signal, 1, CHIME_SIGNAL_SET, 0);
  chime_quiet();
  return 0;
}

// Stops this process until the others have long ended.
int be_stopped() {
  const pid_t stopped = getpid();
  if (fork() == 0) {
    sleep(kAWhile + 2);
    kill(stopped, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const pe = std::getenv("CHIME_RUN_PE");
  if (argc != 2 || pe == nullptr) return 2;
  const std::string what = argv[1];
  if (what == "nic" && std::atoi(pe) == 0)
    setenv("SOFTNIC_FAULTS", "error:syndrome=remote-access,wqe=0", 1);
  chime_init();
  auto* const words = static_cast<Words*>(chime_calloc(1, sizeof(Words)));
  const int me = chime_my_pe();
  // No chime_finalize: other tests check its message about a lost path.
  _exit(me == 0 ? fail_beside_a_wait(what, words) : me == 1 ? set_the_word(words) : be_stopped());
}
