// What a kernel's thread must not do, and the processor refuses: it is named before the process
// ends.
#pragma once

namespace chime::simt {

// Prepares the calling OS thread, which is to run a block: the process's handlers of faults, and a
// stack for them. A thread that overflows its stack onto a guard page is reported, and the process
// aborts. Other faults are named in one line, and the process dies of the signal as it would have;
// not where another handler was there before: that one hears of them, as it would have.
void report_faults();

}  // namespace chime::simt
