// no_mpi <words> [<library> <words>]: a program without the plug-in's MPI is refused with these
// words at each attempt: it has no MPI, or, linked with other_mpi.c, another one. With a library it
// then loads that MPI, finishes with it, and is refused with other words.
#include <dlfcn.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <string.h>

static int is_refused(int code, const char* words) {
  int comm = 0;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = &comm;
  const int status = nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr);
  if (status == code && strstr(chimex_last_error(), words)) return 1;
  fprintf(stderr, "failed: %d, '%s'\n", status, chimex_last_error());
  return 0;
}

static int use_mpi(const char* library) {
  void* const mpi = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (!mpi) {
    fprintf(stderr, "failed: %s\n", dlerror());
    return 0;
  }
  int (*init)(int*, char***);
  int (*finalize)(void);
  *(void**)&init = dlsym(mpi, "MPI_Init");
  *(void**)&finalize = dlsym(mpi, "MPI_Finalize");
  return init && finalize && init(NULL, NULL) == 0 && finalize() == 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  for (int i = 0; i < 2; ++i)
    if (!is_refused(NVSHMEMX_ERROR_NOT_SUPPORTED, argv[1])) return 1;
  if (argc < 4) return 0;
  return use_mpi(argv[2]) && is_refused(NVSHMEMX_ERROR_INVALID_VALUE, argv[3]) ? 0 : 1;
}
