// Questions that a driver may answer late: on a machine whose GPUs are not kept awake (nvidia-smi
// -pm 1) cuInit takes seconds, and so does a library on a network folder that is gone.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace chime::doctor {

// A question that is under way in a thread of its own. The thread is left behind where it is late.
template <class Answer>
class Question {
 public:
  template <class Ask>
  Question(std::string name, Ask ask) : name_(std::move(name)) {
    std::packaged_task<Answer()> task(std::move(ask));
    auto answer = task.get_future();
    try {
      std::thread(std::move(task)).detach();
      answer_ = std::move(answer);
    } catch (const std::system_error&) {
      // No thread may be started (ulimit -u): there will be no answer.
    }
  }

  // Absent, and noted in `late`, if there is none at `deadline`.
  std::optional<Answer> answer_by(std::chrono::steady_clock::time_point deadline,
                                  std::vector<std::string>& late) {
    if (answer_.valid() && answer_.wait_until(deadline) == std::future_status::ready)
      return answer_.get();
    late.push_back(name_);
    return std::nullopt;
  }

 private:
  std::string name_;
  std::future<Answer> answer_;
};

}  // namespace chime::doctor
