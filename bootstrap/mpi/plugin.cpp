// libchime_mpi.so: the functions of mpi_calls.hpp, by the MPI that it is compiled against. To build
// one for another MPI: mpicxx -std=c++20 -fPIC -shared -I<Chime's sources> plugin.cpp
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "bootstrap/mpi/mpi_calls.hpp"

namespace chime::bootstrap {
namespace {

#define CHIME_TEXT_OF(number) CHIME_TEXT(number)
#define CHIME_TEXT(text) #text
#if defined(OPEN_MPI)
constexpr bool kIsOpenMpi = true;
constexpr char kBuiltFor[] = "Open MPI " CHIME_TEXT_OF(OMPI_MAJOR_VERSION) "." CHIME_TEXT_OF(
    OMPI_MINOR_VERSION) "." CHIME_TEXT_OF(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
constexpr bool kIsOpenMpi = false;  // but MPICH, or what shares its binary interface
constexpr char kBuiltFor[] = "MPICH " MPICH_VERSION;
#else
constexpr bool kIsOpenMpi = false;
constexpr char kBuiltFor[] = "an MPI that is neither Open MPI nor MPICH";
#endif

void name(char* text) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(whole, &length);
  whole[std::strcspn(whole, "\n,")] = '\0';
  for (char& letter : whole)
    if (letter == '\t') letter = ' ';
  std::snprintf(text, kMpiTextBytes, "%s", whole);
}

bool is_of_this_kind() {
  char text[kMpiTextBytes];
  name(text);
  return (std::strstr(text, "Open MPI") != nullptr) == kIsOpenMpi;
}

bool was_ever_up() {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  return is_initialized;
}

bool is_up() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  return was_ever_up() && !is_finalized;
}

int result(int status, const char* call, char* why) {
  if (status == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  std::snprintf(why, kMpiTextBytes, "%s says: %s", call, text);
  return -1;
}

int refuse(const char* what, char* why) {
  std::snprintf(why, kMpiTextBytes, "%s", what);
  return -1;
}

MPI_Comm handle_at(const void* communicator) { return *static_cast<const MPI_Comm*>(communicator); }

// A handle, as a pointer has it to which it was cast.
const void* as_pointer(MPI_Comm handle) {
  const void* pointer = nullptr;
  static_assert(sizeof(handle) <= sizeof(pointer));
  std::memcpy(&pointer, &handle, sizeof(handle));
  return pointer;
}

// A communicator itself, where its address is asked for. Open MPI's are pointers to objects that
// all begin with the same word, their class.
bool is_handle(const void* communicator) {
  if (communicator == as_pointer(MPI_COMM_WORLD) || communicator == as_pointer(MPI_COMM_SELF))
    return true;
  return kIsOpenMpi && std::memcmp(communicator, as_pointer(MPI_COMM_WORLD), sizeof(void*)) == 0;
}

int place_in(const void* communicator, int* rank, int* size, char* why) {
  if (is_handle(communicator))
    return refuse(
        "it is the communicator itself, not its address: use attr.mpi_comm = &comm, with comm a "
        "variable of type MPI_Comm",
        why);
  const MPI_Comm handle = handle_at(communicator);
  if (handle == MPI_COMM_NULL)
    return refuse("it is MPI_COMM_NULL: this process is in no communicator", why);
  int is_between_two_groups = 0;
  if (result(MPI_Comm_test_inter(handle, &is_between_two_groups), "MPI_Comm_test_inter", why))
    return -1;
  if (is_between_two_groups)
    return refuse("it is an intercommunicator; make one of both groups by MPI_Intercomm_merge",
                  why);
  if (result(MPI_Comm_rank(handle, rank), "MPI_Comm_rank", why)) return -1;
  return result(MPI_Comm_size(handle, size), "MPI_Comm_size", why);
}

int begin_broadcast(const void* communicator, void* bytes, int count, void** broadcast, char* why) {
  auto* const request = new MPI_Request;
  *broadcast = request;
  const int status = MPI_Ibcast(bytes, count, MPI_BYTE, 0, handle_at(communicator), request);
  if (status != MPI_SUCCESS) delete request;
  return result(status, "MPI_Ibcast", why);
}

int finish_broadcast(void* broadcast, bool* is_done, char* why) {
  auto* const request = static_cast<MPI_Request*>(broadcast);
  int flag = 0;
  const int status = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  *is_done = flag != 0;
  if (flag || status != MPI_SUCCESS) delete request;
  return result(status, "MPI_Test", why);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MpiCalls chime_mpi_calls;
const MpiCalls chime_mpi_calls = {.version = kMpiCallsVersion,
                                  .built_for = kBuiltFor,
                                  .a_function = reinterpret_cast<const void*>(&MPI_Initialized),
                                  .name = name,
                                  .is_of_this_kind = is_of_this_kind,
                                  .is_up = is_up,
                                  .was_ever_up = was_ever_up,
                                  .place_in = place_in,
                                  .begin_broadcast = begin_broadcast,
                                  .finish_broadcast = finish_broadcast};

}  // namespace chime::bootstrap
