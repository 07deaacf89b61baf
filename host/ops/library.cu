// All kernels of the library, as libchime.so carries them.
#include "host/ops/collectives/collect_kernel.cu"
#include "host/ops/library_kernels.cu"
