// A question that a process of its own answers. A driver may take seconds (on a machine whose GPUs
// are not kept awake, nvidia-smi -pm 1), a library on a network folder that is gone hangs, and a
// broken one crashes or exits: all that ends with the process. What one prints is no part of the
// report.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace chime::doctor {

class Child {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `ask` gives members of what recorded.hpp reads. Without threads: it runs after a fork.
  Child(std::string name, const std::function<nlohmann::json()>& ask);
  // Ends the process, and waits for none that the kernel holds.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Adds the answer to `recorded`. Without one at `deadline` the name is noted in its member
  // "late"; of a process that ended without one, how it ended in "ended".
  void answer_by(Deadline deadline, nlohmann::json& recorded);

 private:
  std::string how_it_ended(Deadline deadline);

  std::string name_;
  pid_t process_ = -1;
  int pipe_ = -1;
  std::string why_not_started_;
};

}  // namespace chime::doctor
