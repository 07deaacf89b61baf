// Signals that are sent to the process are the program's business. A thread that is started while
// this exists takes none of them: a program may wait for one with sigwait(), or have blocked it.
#pragma once

#include <csignal>

namespace softnic {

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    // What a thread's own instruction raises cannot wait: held back, it ends the process past the
    // program's handler.
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&held, own);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace softnic
