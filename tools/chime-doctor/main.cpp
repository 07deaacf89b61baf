// chime-doctor: what on this machine keeps GPUs, NICs and launchers from working together, why, and
// what mends it. Needs no job; with --job, what stands between the PEs of one. Exit code 1 if
// something is wrong, 2 if the command line is or the report cannot be written.
#include <cstdio>
#include <exception>

#include "tools/chime-doctor/doctor.hpp"
#include "tools/options.hpp"

int main(int argc, char** argv) {
  CLI::App app("Checks this machine for GPUDirect, RDMA NICs and launchers.", "chime-doctor");
  chime::doctor::Options options;
  app.add_flag("--json", options.as_json,
               "one JSON object instead of text (of a job: chime-run --no-prefix)");
  app.add_flag("--brief", options.is_brief, "without the lines that are ok");
  app.add_option("--root", options.root, "a recorded tree of files instead of this machine's")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--patience", options.patience_s,
                 "how long drivers and libraries may take to answer")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  const auto job = app.add_flag("--job", options.is_job,
                                "under chime-run, mpirun or srun: also what the job's PEs see "
                                "together; PE 0 reports, and all PEs have its exit code");
  app.add_option("--wait", options.wait_s,
                 "how long all PEs may take to come; paths between hosts get a quarter of it")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->needs(job)
      ->check(CLI::Range(1.0, 3600.0));
  app.set_version_flag("--version", "chime-doctor " CHIME_VERSION_TEXT);
  if (const auto code = chime::tools::exit_code_after_parsing("chime-doctor", app, argc, argv))
    return *code;
  try {
    chime::doctor::diagnose_and_exit(options);
  } catch (const std::exception& error) {  // of a recorded tree whose probes.json is wrong
    std::fprintf(stderr, "chime-doctor: %s\n", error.what());
    return chime::tools::kCannot;
  }
}
