// start <case>: ranks of an MPI communicator become PEs. <case> names the communicator, or its
// fault and the words of the error. Errors stay with their ranks: none may keep the others waiting.
#include <mpi.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "failed: %s: '%s'\n", what, chimex_last_error());
  exit(1);
}

static void require_words(const char* words) {
  require(strstr(chimex_last_error(), words) != NULL, words);
}

// A communicator itself, passed where the address of a communicator variable is expected: in Open
// MPI both are pointers.
static void refuse_without_address(MPI_Comm comm) {
#ifdef OPEN_MPI
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = comm;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == NVSHMEMX_ERROR_INVALID_VALUE,
          "a communicator itself");
  require_words("not its address: use attr.mpi_comm = &comm");
#endif
}

// The ranks of `comm` are the PEs, in its order: each puts to its right neighbour, and leaves.
static void run_as(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  require(nvshmem_my_pe() == rank && nvshmem_n_pes() == size, "ranks are PEs");
  long* const value = nvshmem_calloc(1, sizeof(long));
  nvshmem_long_p(value, 100 + rank, (rank + 1) % size);
  nvshmem_barrier_all();
  require(*value == 100 + (rank + size - 1) % size, "what the left neighbour sent");
  nvshmem_free(value);
  nvshmem_finalize();
}

static void start(MPI_Comm comm) {
  nvshmemx_init_attr_t attr;  // only these members are initialised, as in programs
  memset(&attr, 0xa5, sizeof(attr));
  const nvshmemx_init_args_t args = NVSHMEMX_INIT_ARGS_V2_INITIALIZER;
  attr.args.version = args.version;  // as another attr may have left it, and no device
  attr.mpi_comm = &comm;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == NVSHMEMX_SUCCESS, "init");
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == NVSHMEMX_SUCCESS, "again");
  run_as(comm);
}

// By Chime's own names, with settings that the program makes.
static void start_by_chime(MPI_Comm comm) {
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  require(chimex_set_attr_mpi_comm_args(&comm, &attr) == CHIMEX_OK, "attr");
  chimex_config_t config = CHIMEX_CONFIG_INITIALIZER;
  require(chimex_init_config(CHIMEX_INIT_WITH_UNIQUEID, &attr, &config) == CHIMEX_OK, "init");
  run_as(comm);
}

static void start_by_setter(MPI_Comm comm) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_set_attr_mpi_comm_args(&comm, &attr) == NVSHMEMX_SUCCESS, "setter");
  require(attr.mpi_comm == &comm, "what it set");
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) == NVSHMEMX_SUCCESS, "init");
  run_as(comm);
}

static int status_of(unsigned flags, void* comm) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attr.mpi_comm = comm;
  return nvshmemx_init_attr(flags, &attr);
}

static void refuse(void* comm, int status, const char* words) {
  require(status_of(NVSHMEMX_INIT_WITH_MPI_COMM, comm) == status, "status");
  require_words(words);
  require(nvshmem_n_pes() == -1, "no PE");
  require(chimex_init_device() == CHIMEX_ERR_NOT_INITIALIZED, "no device");
  require_words("nvshmem_init has failed, and there is no PE");
  require_words(words);  // later calls give the reason
}

// Two jobs at once, of three PEs and of one, each in the reverse order of ranks.
static void start_parts(int rank) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &part);
  start(part);
  MPI_Comm_free(&part);
}

static void refuse_two_groups(int rank) {
  MPI_Comm part, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  refuse(&both, NVSHMEMX_ERROR_INVALID_VALUE, "MPI_Intercomm_merge");
  MPI_Comm_free(&both);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL;
  if (strcmp(how, "before") == 0)
    refuse(&world, NVSHMEMX_ERROR_INVALID_VALUE, "call MPI_Init before");
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(world, &rank);
  if (strcmp(how, "world") == 0) {
    start(world);
    start(world);  // a second job of the same ranks
  } else if (strcmp(how, "setter") == 0) {
    start_by_setter(world);
  } else if (strcmp(how, "chime") == 0) {
    start_by_chime(world);
  } else if (strcmp(how, "parts") == 0) {
    start_parts(rank);
  } else if (strcmp(how, "mistakes") == 0) {
    refuse(NULL, NVSHMEMX_ERROR_INVALID_VALUE, "attr.mpi_comm = &comm");
    refuse(&none, NVSHMEMX_ERROR_INVALID_VALUE, "MPI_COMM_NULL");
    require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, NULL) == NVSHMEMX_ERROR_INVALID_VALUE,
            "no attr");
    require_words("needs an attr");
    require(status_of(NVSHMEMX_INIT_WITH_SHMEM, &world) == NVSHMEMX_ERROR_NOT_SUPPORTED, "SHMEM");
    require_words("NVSHMEMX_INIT_WITH_UNIQUEID");
    require(status_of(NVSHMEMX_INIT_WITH_MPI_COMM | NVSHMEMX_INIT_WITH_UNIQUEID, &world) ==
                NVSHMEMX_ERROR_INVALID_VALUE,
            "both");
    require_words("two jobs");
    nvshmemx_init_attr_t device = NVSHMEMX_INIT_ATTR_INITIALIZER;
    device.mpi_comm = &world;
    device.args.cuda_device_id = 1000;
    setenv("CHIME_DEVICE", "cuda", 1);
    require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &device) != NVSHMEMX_SUCCESS, "device");
    require_words("CUDA");  // there is no such device, or none at all
    setenv("CHIME_DEVICE", "cpu", 1);
    require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &device) == NVSHMEMX_SUCCESS,
            "a GPU's number where kernels run on the CPU");
    run_as(world);
    refuse_without_address(world);
    refuse_without_address(MPI_COMM_SELF);
    MPI_Comm copy;
    MPI_Comm_dup(world, &copy);
    refuse_without_address(copy);
    MPI_Comm_free(&copy);
    refuse_two_groups(rank);
    start(world);  // the refusals left no trace
  } else if (strcmp(how, "without_first") == 0) {
    if (rank != 0) refuse(&world, CHIMEX_ERR_TIMEOUT, "each of them must make this call");
    MPI_Barrier(world);
  } else if (strcmp(how, "without_last") == 0) {
    if (rank != 3) refuse(&world, CHIMEX_ERR_TIMEOUT, "PE 3 has not joined the job");
    MPI_Barrier(world);
  } else if (strcmp(how, "no_interface") == 0) {
    refuse(&world, CHIMEX_ERR_SYSTEM, "CHIME_BOOTSTRAP_IF=no0");
    if (rank != 0) require_words("rank 0 of the MPI communicator");
  } else if (strcmp(how, "no_plugin") == 0) {
    refuse(&world, NVSHMEMX_ERROR_NOT_SUPPORTED, argv[2]);
  } else if (strcmp(how, "before") != 0) {
    fprintf(stderr, "there is no case '%s'\n", how);
    return 2;
  }
  MPI_Finalize();
  if (strcmp(how, "mistakes") == 0)
    refuse(&world, NVSHMEMX_ERROR_INVALID_VALUE, "already finalised");
  return 0;
}
