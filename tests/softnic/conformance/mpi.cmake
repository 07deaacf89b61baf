# Open MPI over UCX, as a cluster runs it: two ranks find each other over UD, then use RC. `pml ucx` refuses to start
# with another transport, and UCX may use nothing but the device and the process itself.
find_file(SOFTNIC_OPENMPI_UCX mca_pml_ucx.so PATH_SUFFIXES lib/x86_64-linux-gnu/openmpi/lib/openmpi3 openmpi
  PATHS /usr)
set(mpi ALONE
  ENV UCX_TLS=rc_mlx5,ud_mlx5,self UCX_NET_DEVICES=mlx5_0:1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  EXPECT "rank 0: all bytes right" "rank 1: all bytes right"
  RUN mpirun --timeout 270 --oversubscribe -n 2 --mca pml ucx --mca osc ucx --mca btl self
      python3 ${CMAKE_CURRENT_SOURCE_DIR}/mpi_program.py)
if(SOFTNIC_OPENMPI_UCX)
  softnic_matrix(mpirun ${mpi})
else()
  add_test(NAME softnic.runs.mpirun COMMAND sh -c "echo 'skipped: Open MPI has no UCX here (openmpi-bin)'; exit 77")
  set_tests_properties(softnic.runs.mpirun PROPERTIES LABELS softnic SKIP_RETURN_CODE 77)
endif()
