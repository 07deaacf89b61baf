// How a process becomes a PE: by a launcher, by a unique id, or by an MPI communicator, with
// settings from where the caller says. The calls that have names for it are in api.cpp and
// nvshmem_api.cpp.
#pragma once

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/settings/env.hpp"

namespace chime::host {

// Where settings come from, and what there is to say about it once.
struct Source {
  Lookup lookup;
  std::vector<std::string> (*warnings)();
  // Which variable says what the one of this name is: itself, or one of NVSHMEM's.
  std::string (*set_as)(std::string_view name);
  bool is_nvshmems = false;  // of a program by NVSHMEM's names
};

// The environment, as programs by Chime's names have it. A `config` counts before it.
Source environment_of_chime(const chimex_config_t* config = nullptr);

// The program chooses no GPU by its number at the driver: it has done so by other means, or not.
inline constexpr int kAnyCudaDevice = -1;

// All throw Error. init_as, init_with_mpi_comm: nothing where this thread is a PE already. `attr`
// is a unique id's.
void init_as(unsigned flags, const chimex_init_attr_t* attr, const Source& source,
             int cuda_device = kAnyCudaDevice);
chimex_uniqueid_t new_unique_id(const Source& source);
chimex_init_attr_t attr_of_unique_id(int my_pe, int n_pes, const chimex_uniqueid_t& id);

// Collective over `*mpi_comm`, an MPI_Comm: what its ranks can join by, as a unique id's.
chimex_init_attr_t attr_of_mpi_comm(const void* mpi_comm, const Source& source);

// That, and to join by it: the ranks meet once, and a PE that is there already asks none of them.
void init_with_mpi_comm(const void* mpi_comm, const Source& source,
                        int cuda_device = kAnyCudaDevice);

}  // namespace chime::host
