#include "bootstrap/hub/question.hpp"

#include <utility>

namespace chime::bootstrap {

OpenQuestions::Id OpenQuestions::open(OnAnswer on_answer) {
  std::lock_guard lock(mutex_);
  open_.emplace(next_, std::move(on_answer));
  return next_++;
}

bool OpenQuestions::is_open(Id id) const {
  std::lock_guard lock(mutex_);
  return open_.contains(id);
}

void OpenQuestions::answer(Id id, Answer answer) {
  OnAnswer on_answer;
  {
    std::lock_guard lock(mutex_);
    const auto question = open_.find(id);
    if (question == open_.end()) return;
    on_answer = std::move(question->second);
    open_.erase(question);
    telling_.emplace(id, std::this_thread::get_id());
  }
  on_answer(std::move(answer));
  on_answer = nullptr;  // what it holds goes before a cancel() returns
  std::lock_guard lock(mutex_);
  telling_.erase(id);
  has_called_back_.notify_all();
}

void OpenQuestions::answer_all(const Answer& answer_to_all) {
  std::vector<Id> ids;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, on_answer] : open_) ids.push_back(id);
  }
  for (const Id id : ids) answer(id, answer_to_all);
}

// The callback's captures are destroyed without the lock: one of them may be a question, too.
void OpenQuestions::cancel(Id id) {
  std::unique_lock lock(mutex_);
  const auto cancelled = open_.extract(id);
  has_called_back_.wait(lock, [&] {
    const auto running = telling_.find(id);
    return running == telling_.end() || running->second == std::this_thread::get_id();
  });
  lock.unlock();
}

Question& Question::operator=(Question&& other) noexcept {
  cancel();
  all_ = std::move(other.all_);
  id_ = std::exchange(other.id_, 0);
  return *this;
}

void Question::cancel() {
  if (const auto all = std::move(all_)) all->cancel(id_);
}

OnAnswer AwaitedAnswer::on_answer() {
  return [this](Answer answer) { come(std::move(answer)); };
}

void AwaitedAnswer::come(Answer answer) {
  std::lock_guard lock(mutex_);
  if (answer_) return;
  answer_ = std::move(answer);
  has_come_.notify_one();
}

bool AwaitedAnswer::has_come_by(Deadline deadline) {
  std::unique_lock lock(mutex_);
  return has_come_.wait_until(lock, deadline, [this] { return answer_.has_value(); });
}

std::optional<Answer> AwaitedAnswer::wait_until(Deadline deadline) {
  has_come_by(deadline);
  std::lock_guard lock(mutex_);
  return std::move(answer_);
}

}  // namespace chime::bootstrap
