// One machine, looked at, and all checks of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "host/diagnosis/machine.hpp"
#include "tools/chime-doctor/report.hpp"

namespace chime::doctor {

// How drivers and libraries are asked. Before the program starts threads: a process forks for each.
struct Asking {
  std::string root;                    // a recorded tree; empty: this machine
  std::chrono::milliseconds patience;  // how long each may take
};

// Throws nlohmann::json::exception where the answers beside a recorded tree are wrong.
Machine look_at_machine(const Asking& asking);

// Its files, environment and limits alone: asks no driver and no library.
Machine look_quickly_at_machine(const Asking& asking);

std::vector<Subject> check_machine(const Machine& machine);

}  // namespace chime::doctor
