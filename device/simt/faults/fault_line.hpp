// The one line that names a fault in a kernel.
#pragma once

#include <signal.h>

namespace chime::simt {

struct Thread;

// Writes to stderr the signal that ends `thread`, and its reason, from the arguments of the
// signal's handler. Safe in a signal handler: no heap, no lock, no stdio.
void write_fault_line(const Thread& thread, const siginfo_t& info, const void* context);

}  // namespace chime::simt
