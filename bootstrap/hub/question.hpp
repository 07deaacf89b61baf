// Questions that a bootstrap has open: each is answered once, or cancelled.
//
// One thread may answer while another cancels, at any time. A callback that runs is waited for, and
// one that was cancelled is never called. Answers to a question that is not open go nowhere, so a
// late answer of a launcher does no harm.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chime/error.h"

namespace chime::bootstrap {

using Deadline = std::chrono::steady_clock::time_point;
using Bytes = std::vector<std::byte>;

struct Answer {
  Bytes value = {};
  chimex_status code = CHIMEX_OK;  // else there is no value,
  std::string why = {};            // and this says why
};
using OnAnswer = std::function<void(Answer answer)>;

class OpenQuestions {
 public:
  using Id = std::uint32_t;

  // All from any thread.
  Id open(OnAnswer on_answer);
  bool is_open(Id id) const;
  // Calls back, on this thread, if the question is still open.
  void answer(Id id, Answer answer);
  void answer_all(const Answer& answer);
  // When it returns, the callback is not running and will not be called; called by that callback
  // itself, it returns at once.
  void cancel(Id id);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable has_called_back_;
  Id next_ = 1;
  std::map<Id, OnAnswer> open_;
  std::map<Id, std::thread::id> telling_;  // whose callbacks run, and where
};

// One question, which is cancelled when this goes. It may outlive its bootstrap.
class [[nodiscard]] Question {
 public:
  Question() = default;
  Question(std::shared_ptr<OpenQuestions> all, OpenQuestions::Id id)
      : all_(std::move(all)), id_(id) {}
  Question(Question&&) noexcept = default;
  Question& operator=(Question&& other) noexcept;
  ~Question() { cancel(); }

  void cancel();
  OpenQuestions::Id id() const { return id_; }

 private:
  std::shared_ptr<OpenQuestions> all_;  // null: there is none
  OpenQuestions::Id id_ = 0;
};

// An answer that a thread waits for. Outlives its question.
class AwaitedAnswer {
 public:
  OnAnswer on_answer();
  // The first that comes is the answer.
  void come(Answer answer);
  bool has_come_by(Deadline deadline);
  // Nothing, if it has not come until then.
  std::optional<Answer> wait_until(Deadline deadline);

 private:
  std::mutex mutex_;
  std::condition_variable has_come_;
  std::optional<Answer> answer_;
};

}  // namespace chime::bootstrap
