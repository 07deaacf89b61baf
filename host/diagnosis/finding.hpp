// What a check found: a line of the report.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chime::doctor {

// A warning: slower than it might be, or a limit of jobs. Wrong: a path that a user of such a
// machine wants does not work. A missing GPU or NIC is neither.
enum class Level { kOk, kWarning, kWrong };

struct Finding {
  Level level;
  std::string what;   // the check's name: scripts may look for it
  std::string where;  // the device; empty: the machine
  std::string seen;   // what was found, and what follows from it
  std::string mend;   // a command or an instruction; empty if nothing is to be done
};

using Findings = std::vector<Finding>;

inline Finding ok(std::string what, std::string where, std::string seen) {
  return {Level::kOk, std::move(what), std::move(where), std::move(seen), {}};
}

}  // namespace chime::doctor
