#include "signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "guardian.hpp"

namespace chime::run {

Signals::Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal :
       {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, guardian_died_signal()})
    sigaddset(&set, signal);
  fd_ = net::Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void Signals::take_all(const std::function<void(int)>& take) const {
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == sizeof info) take(static_cast<int>(info.ssi_signo));
}

}  // namespace chime::run
