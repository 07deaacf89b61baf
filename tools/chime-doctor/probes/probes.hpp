// Gathers what no file tells: asks libraries, drivers and the system.
#pragma once

#include <chrono>

#include "host/diagnosis/probes.hpp"
#include "host/diagnosis/root.hpp"

namespace chime::doctor {

// Asks this machine: each library and driver in a process of its own. What has not answered after
// `patience` is late. To be called before the program starts threads.
Probes gather_probes(const Root& root, std::chrono::milliseconds patience);

// Without any driver or library: limits, interfaces, environment, the folders of LD_LIBRARY_PATH.
Probes gather_little(const Root& root, std::chrono::milliseconds patience);

// Those that were written beside a recorded tree, in its file /probes.json.
Probes read_probes(const Root& root);

}  // namespace chime::doctor
