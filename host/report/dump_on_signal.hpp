// SIGUSR1 to a process with PEs, under any launcher: each says what it is doing, and goes on.
//
// Only where the program leaves the signal to the system, which would end the process: what the
// program has chosen for it, before chime_init or later, stays. With the last PE the signal is the
// system's again. Calls of the program that the signal finds waiting go on, but for those that
// never do (signal(7): sleep, poll and their kind return early). A child that the process forks
// without exec is no PE, and is ended by the signal.
#pragma once

#include "host/pe/runtime.hpp"

namespace chime::host {

// A PE that answers the signal, while this lives. From any thread.
class DumpOnSignal final : public Service {
 public:
  DumpOnSignal();
  ~DumpOnSignal() override;
  DumpOnSignal(const DumpOnSignal&) = delete;
};

}  // namespace chime::host
