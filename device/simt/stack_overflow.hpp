// Kernel threads that overflow their stacks onto a guard page are reported by name.
#pragma once

namespace chime::simt {

// Prepares the calling OS thread, which is to run a block: the process's handler of SIGSEGV, and a
// stack for it. Faults that are no overflow go to the handler that was there before.
void report_stack_overflows();

}  // namespace chime::simt
