// no_mpi <words>: a program without the plug-in's MPI is refused with these words, each time it
// asks: it has none, or, linked with other_mpi.c, another one.
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <string.h>

static int is_refused(const char* words) {
  int comm = 0;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = &comm;
  const int status = nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr);
  if (status == NVSHMEMX_ERROR_NOT_SUPPORTED && strstr(chimex_last_error(), words)) return 1;
  fprintf(stderr, "failed: %d, '%s'\n", status, chimex_last_error());
  return 0;
}

int main(int argc, char** argv) {
  return argc == 2 && is_refused(argv[1]) && is_refused(argv[1]) ? 0 : 1;
}
