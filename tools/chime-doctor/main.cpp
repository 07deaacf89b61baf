// chime-doctor: what on this machine keeps GPUs, NICs and launchers from working together, why, and
// what mends it. Needs no job. Exit code 1 if something is wrong, 2 if the command line is.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/chime-doctor/doctor.hpp"

int main(int argc, char** argv) {
  CLI::App app("Checks this machine for GPUDirect, RDMA NICs and launchers.", "chime-doctor");
  chime::doctor::Options options;
  app.add_flag("--json", options.as_json, "one JSON object instead of text");
  app.add_flag("--brief", options.is_brief, "without the lines that are ok");
  app.add_option("--root", options.root, "a recorded tree of files instead of this machine's")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--patience", options.patience_s,
                 "how long drivers and libraries may take to answer")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app.set_version_flag("--version", "chime-doctor " CHIME_VERSION_TEXT);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    chime::doctor::diagnose_and_exit(options);
  } catch (const std::exception& error) {  // of a recorded tree whose probes.json is wrong
    std::fprintf(stderr, "chime-doctor: %s\n", error.what());
    return 2;
  }
}
