// Faults of a kernel's thread that the processor detects: they are reported before the process
// ends.
#pragma once

namespace chime::simt {

// Prepares the calling OS thread to run a block: installs the process's handlers of faults, and a
// stack for them. If a thread overflows its stack onto a guard page, this is reported, and the
// process aborts. Other faults are reported in one line, and the process ends by the signal as it
// would have without the handlers. Where the program has its own handler, only that one is called.
void report_faults();

}  // namespace chime::simt
