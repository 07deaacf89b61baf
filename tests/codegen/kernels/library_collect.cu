// The kernel of the library's collectives.
#include "host/ops/collectives/collect_kernel.cu"

// Data and arrivals move in out-of-line functions; collectives.cu tests words.
// PTX chime_library_collect: 1+ fence.acq_rel.sys, 0 atom, 0 red, 0 membar
