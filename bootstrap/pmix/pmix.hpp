// Start-up through any PMIx launcher: mpirun, prterun, srun --mpi=pmix.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {

// A cheap test: no library is loaded, nobody is called.
bool is_started_by_pmix();

std::unique_ptr<Bootstrap> join_pmix_job(const Settings& settings);

}  // namespace chime::bootstrap
