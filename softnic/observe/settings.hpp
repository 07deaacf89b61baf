// Every variable of the softnic, read once. docs/softnic.md has the table for users.
#pragma once

#include <string>

namespace softnic {

struct Settings {
  std::string fabric = "default";  // SOFTNIC_FABRIC: NICs of one name and user reach each other
  bool ethernet = false;           // SOFTNIC_LINK_LAYER: infiniband | ethernet (RoCE v2)
  int log = 1;  // SOFTNIC_LOG: 0 errors, 1 this rdma-core, 2 messages, 3 requests, 4 completions
  bool strict = true;     // SOFTNIC_STRICT: 1 | 0
  std::string faults;     // SOFTNIC_FAULTS: see docs/softnic.md
  std::string trace;      // SOFTNIC_TRACE: file for JSON lines, "%p" is the process id
  std::string counters;   // SOFTNIC_COUNTERS: file for the counters, "-" is standard error
  unsigned spin_us = 20;  // SOFTNIC_SPIN_US: how long an idle engine polls before it sleeps
};

// The settings of the environment. Throws std::runtime_error naming the variable and its possible
// values.
Settings settings_of_environment();

// Prints the SOFTNIC_ variables of the environment that do not exist: once in a process, when it
// first asks for devices or settings.
void warn_of_unknown_variables();

// A file's name in which "%p" is the process id.
std::string with_process_id(std::string path);

// SOFTNIC_LINK_LAYER's values. Throws std::runtime_error.
bool is_ethernet(const std::string& link_layer);

// The settings in force. Without use_settings() they are the environment's. If these are wrong the
// process ends with a message, because there is no caller to report them to.
const Settings& settings();

// Puts `settings` in force; call it before the NIC exists.
void use_settings(Settings settings);

}  // namespace softnic
