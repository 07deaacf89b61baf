// Later joinings of a process that a PMIx launcher started: chime_init after chime_finalize.
//
// A launcher forgets no endpoint info, and an endpoint info that is put again may stay stale on
// other hosts for ever (OpenPMIx 4.2). So PEs that join again meet at a hub in the process of PE 0,
// and leave nothing at the launcher. The launcher still ends the job, and still tells of lost PEs.
// Needs PMIx's headers.
#pragma once

#include <memory>

#include "bootstrap/hub/tcp.hpp"
#include "bootstrap/pmix/pmix_client.hpp"

namespace chime::bootstrap {

// Joins for the `joining`-th time, counted from 0, at `rendezvous`. Throws BootstrapError where it
// cannot be reached until `deadline`.
std::unique_ptr<Bootstrap> rejoin_pmix_job(PmixClient& client, int joining,
                                           const chimex_uniqueid_t& rendezvous,
                                           const Settings& settings, Deadline deadline);

}  // namespace chime::bootstrap
