// The table of functions that libchime.so uses of an MPI. A plug-in, libchime_mpi.so, has it; it is
// compiled against that MPI's mpi.h. MPI's handles differ between MPIs, so a communicator is the
// address of one, as the program has it. bootstrap/mpi_comm opens the plug-in.
//
// Functions return 0, or -1 and say why in the last argument, which has kMpiTextBytes.
#pragma once

namespace chime::bootstrap {

inline constexpr int kMpiCallsVersion = 2;
inline constexpr int kMpiTextBytes = 512;
inline constexpr char kMpiCallsName[] = "chime_mpi_calls";  // the table's symbol

struct MpiCalls {
  int version;
  const char* built_for;  // the MPI: "Open MPI 4.1.4"

  // A function of the MPI that the plug-in's calls reach: the loader can say which library has it.
  // Then that MPI's own name, and whether it is of the kind that the plug-in is built for. These
  // may be called before MPI_Init.
  const void* a_function;
  void (*name)(char* text);
  bool (*is_of_this_kind)();

  // Between MPI_Init and MPI_Finalize; and from MPI_Init on.
  bool (*is_up)();
  bool (*was_ever_up)();

  int (*place_in)(const void* communicator, int* rank, int* size, char* why);

  // Rank 0's bytes go to all. `bytes` stays until finish_broadcast has set `is_done`: ask it again
  // and again. `*broadcast` is what it takes.
  int (*begin_broadcast)(const void* communicator, void* bytes, int count, void** broadcast,
                         char* why);
  int (*finish_broadcast)(void* broadcast, bool* is_done, char* why);
};

}  // namespace chime::bootstrap
