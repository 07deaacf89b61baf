// The launcher's variables in the environment, before any library of the job is ready.
#pragma once

namespace softgpu {

// How many processes of the job are on this node: by chime-run, Open MPI, MPICH or Slurm. 1 without
// a launcher.
int launched_on_this_node();

// Whether this process is the job's first; also true without a job.
bool is_first_of_job();

}  // namespace softgpu
