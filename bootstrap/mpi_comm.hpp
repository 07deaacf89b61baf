// Jobs whose PEs are the ranks of an MPI communicator: its rank 0 makes a unique id
// (bootstrap/hub/tcp.hpp), and MPI brings it to the others. libchime.so knows no MPI: a plug-in
// does that is compiled against the program's (mpi/), opened when it is asked for, and never
// closed.
#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub/tcp.hpp"

namespace chime::bootstrap {

// The data that a PE needs to join a job of a unique id.
struct Introduction {
  int pe = 0;
  int n_pes = 0;
  chimex_uniqueid_t id{};
};

// Collective over `*communicator`, an MPI_Comm of the program's; waits for its ranks at most
// settings.timeout. `plugin`: its file; empty: libchime_mpi.so beside libchime.so. Throws
// BootstrapError where there is no plug-in, MPI is not up or not that of the plug-in, the
// communicator is none, or a rank does not come.
Introduction introduce_ranks(const void* communicator, const std::string& plugin,
                             const Settings& settings);

}  // namespace chime::bootstrap
