// chime-run is two processes, so that SIGKILL of either leaves nothing behind.
//
//   guardian  -- the process that the user started: passes signals and the terminal's input on, and
//   waits
//     launcher  -- starts the PEs, is their parent, serves their hub, shows their output
//       PE 0, PE 1, ...  -- each in a process group of its own
//
// If the guardian dies, the kernel signals the launcher, which kills the job. If the launcher dies,
// the kernel kills the PEs, their orphans fall to the guardian, and it kills those. The launcher
// has its own process group, so that a signal to the group that a shell or a terminal made reaches
// the guardian alone.
#pragma once

#include <functional>

namespace chime::run {

// The signal that tells the launcher of the guardian's death.
int guardian_died_signal();

// Runs `launch` in the launcher process; returns its exit code in the guardian.
int run_guarded(const std::function<int()>& launch);

// In the launcher: what PE 0 reads. The guardian's standard input, or, where that is a terminal
// (which only the foreground group may read), a pipe that the guardian fills.
int input_of_pe_0();

}  // namespace chime::run
