// The doctor as a function: for chime-doctor and for chime-info --doctor.
#pragma once

#include <string>

namespace chime::doctor {

struct Options {
  std::string root = "";    // a recorded tree; empty: this machine
  bool as_json = false;     // one object instead of text
  bool is_brief = false;    // without the lines that are ok
  double patience_s = 1.5;  // how long drivers and libraries may take to answer
  bool is_job = false;      // what the PEs of a job see together, too
  double wait_s = 20;       // how long all PEs of the job may take to come
};

// Prints the report and ends the process, with exit code 1 if something is wrong.
[[noreturn]] void diagnose_and_exit(const Options& options);

}  // namespace chime::doctor
