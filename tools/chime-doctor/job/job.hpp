// chime-doctor --job: what the PEs of a job can see together.
//
// It does not call chime_init, which may be what fails, and takes from Chime the launcher's
// bootstrap alone:
//
//   each PE   says what it is, one a host also what the host is, and where it listens
//   PE 0      waits for them, and publishes which PE looks at which host
//   these     try each other (plan.hpp), and say how that went
//   PE 0      checks, prints, and publishes the exit code, which all PEs end with
//
// PE 0 asks each PE twice, so it takes time in proportion to the job.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "tools/chime-doctor/diagnosis.hpp"
#include "tools/chime-doctor/report.hpp"

namespace chime::doctor {

struct JobOptions {
  Asking asking;                   // of each host
  std::chrono::milliseconds wait;  // for all PEs to come
};

// What the process is to exit with. PE 0 calls `print`, which returns that.
int diagnose_job(const JobOptions& options,
                 const std::function<int(const std::vector<Subject>& report)>& print);

}  // namespace chime::doctor
