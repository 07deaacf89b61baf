// Preemption of compiled kernels: in a program built with -fsanitize-coverage=trace-pc
// (chime_preempt in cmake/ChimePreempt.cmake) the compiler calls this in every basic block, so that
// a raw spin loop also lets other threads run. Part of those programs, not of libchime.so.
#include "chime/device/simt/threads/thread.hpp"

extern "C" void __sanitizer_cov_trace_pc() {
  constexpr unsigned kBlocksPerYield = 1024;  // power of two
  static __thread unsigned executed = 0;
  if (!chime::simt::current_thread) return;
  if ((++executed & (kBlocksPerYield - 1)) == 0) chime::simt::preempt();
}
