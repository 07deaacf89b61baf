// Signals that are sent to the process belong to the program. A thread that is started while an
// object of this class exists takes none of them: the program may wait for one with sigwait(), or
// have blocked it.
#ifndef CHIME_ABI_SIGNALS_HELD_H_
#define CHIME_ABI_SIGNALS_HELD_H_

#include <csignal>
#include <initializer_list>

#include "chime/cxx20.h"

namespace chime::abi {

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    // A signal that a thread's own instruction raises must not be blocked: it would end the process
    // without a report. And a profiler's timer needs every thread.
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
      sigdelset(&held, own);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace chime::abi

#endif  // CHIME_ABI_SIGNALS_HELD_H_
