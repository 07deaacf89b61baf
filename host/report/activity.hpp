// The report of a PE when its job's time is over: what it is doing.
#pragma once

namespace chime::host {

// Prints which calls of Chime the host threads of PE `pe`'s process are in, and what its kernels on
// the CPU device are doing. From any thread, at any time between the PE's joining and leaving;
// waits for nothing that the PE waits for.
void say_activity(int pe);

}  // namespace chime::host
