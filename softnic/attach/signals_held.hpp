// Signals that are sent to the process belong to the program. A thread that is started while an
// object of this class exists takes none of them: the program may wait for one with sigwait(), or
// have blocked it.
#pragma once

#include <csignal>

namespace softnic {

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    // A signal that a thread's own instruction raises must not be blocked: it would end the process
    // without the program's handler.
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
