// A program with NVSHMEM's names whose PEs are MPI ranks, with kernels: a ring of puts, whose sum
// MPI and the PEs must agree on.
#include <mpi.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <cstdlib>

namespace exec = chime::exec;

static CHIME_KERNEL void pass_on(long* received, uint64_t* signal) {
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_long_p(received, 1L << nvshmem_my_pe(), right);
  nvshmem_fence();
  nvshmemx_signal_op(signal, 1, NVSHMEM_SIGNAL_SET, right);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
}

static void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s: '%s'\n", what, chimex_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = &comm;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == NVSHMEMX_SUCCESS, "init");

  auto* const received = static_cast<long*>(nvshmem_calloc(1, sizeof(long)));
  auto* const signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
  require(exec::launch({}, pass_on, received, signal) == 0, "launch");
  exec::device_synchronize();
  long mine = 0, sum = 0;
  exec::copy(&mine, received, sizeof(mine));
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  require(sum == (1L << nvshmem_n_pes()) - 1, "each PE's bit came once");
  nvshmem_barrier_all();
  nvshmem_free(signal);
  nvshmem_free(received);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}
