// Open questions: one thread asks, others answer.
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "body_parts.hpp"
#include "support/meet.hpp"

namespace chime::bootstrap::test {
namespace {

// The answers to a thread's questions, which arrive on other threads.
class Answers {
 public:
  OnAnswer note(const std::string& question) {
    return [this, question](Answer answer) {
      std::lock_guard lock(mutex_);
      came_.push_back({question, std::move(answer)});
      changed_.notify_all();
    };
  }
  // The n-th answer, from 1.
  std::pair<std::string, Answer> wait_for(std::size_t n) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 30s, [&] { return came_.size() >= n; }))
      throw Failure("answer " + std::to_string(n) + " has not come");
    return came_[n - 1];
  }
  std::size_t count() {
    std::lock_guard lock(mutex_);
    return came_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Answer>> came_;
};

// One thread has them all open; the answers arrive as the endpoint infos do.
void many_questions_may_be_open_at_once(const Join& join) {
  auto job = join();
  const int next = (job->rank() + 1) % job->size();
  const int last = (job->rank() + job->size() - 1) % job->size();
  constexpr int kQuestions = 20;
  const auto key = [](int i) { return "question " + std::to_string(i); };
  Answers answers;
  std::vector<Question> open;
  const auto took = time_of([&] {
    for (int i = 0; i < kQuestions; i++)
      open.push_back(job->ask(next, key(i), answers.note(key(i))));
  });
  check(took < 10s, "asking waits");
  meet(*job);
  check(answers.count() == 0, "an answer for an unpublished key");
  meet(*job);
  for (int i = kQuestions; i-- > 0;) {  // the last first, and each when the one before has arrived
    job->publish(key(i), bytes_of(endpoint_info_of(job->rank()) + key(i)));
    const auto [question, answer] = answers.wait_for(static_cast<std::size_t>(kQuestions - i));
    check(question == key(i), "'" + question + "' was answered instead of '" + key(i) + "'");
    check(answer.code == CHIMEX_OK && answer.value == bytes_of(endpoint_info_of(next) + key(i)),
          "wrong answer");
    job->publish("heard " + key(i), {});
    job->lookup(last, "heard " + key(i), soon());
  }
  check(answers.count() == kQuestions, "a question was answered twice");
  meet(*job);
}

void what_is_there_already_is_answered_too(const Join& join) {
  auto job = join();
  job->publish("there", bytes_of(endpoint_info_of(job->rank())));
  meet(*job);
  Answers answers;
  std::vector<Question> open;
  for (int pe = 0; pe < job->size(); pe++)
    open.push_back(job->ask(pe, "there", answers.note(std::to_string(pe))));
  for (std::size_t n = 1; n <= open.size(); n++) {
    const auto [pe, answer] = answers.wait_for(n);
    check(answer.value == bytes_of(endpoint_info_of(std::stoi(pe))),
          "wrong endpoint info of PE " + pe);
  }
  meet(*job);
}

void a_question_of_no_pe_is_an_error(const Join& join) {
  auto job = join();
  Answers answers;
  check_mentions(error_of([&] {
                   job->ask(job->size(), "endpoint_info", answers.note("endpoint_info")).cancel();
                 }),
                 "PEs 0 to");
  check(answers.count() == 0, "answered");
  meet(*job);
}

void a_cancelled_question_is_not_answered(const Join& join) {
  auto job = join();
  const int next = (job->rank() + 1) % job->size();
  Answers answers;
  {
    const Question dropped = job->ask(next, "late", answers.note("dropped"));
    Question cancelled = job->ask(next, "late", answers.note("cancelled"));
    cancelled.cancel();
  }
  const Question kept = job->ask(next, "late", answers.note("kept"));
  meet(*job);
  job->publish("late", bytes_of("x"));
  check(answers.wait_for(1).first == "kept", "a question that was closed was answered");
  meet(*job);
  check(answers.count() == 1, "a question that was closed was answered late");
}

// A caller that waits with its own question must not wait for ever.
void who_leaves_has_its_open_questions_answered(const Join& join) {
  auto job = join();
  Answers answers;
  const Question first = job->ask(job->rank(), "never", answers.note("first"));
  const Question second = job->ask(job->rank(), "not either", answers.note("second"));
  meet(*job);
  job.reset();
  check(answers.count() == 2, "a question is still open");
  for (const std::size_t n : {1u, 2u}) {
    const Answer answer = answers.wait_for(n).second;
    check(answer.code == CHIMEX_ERR_NOT_INITIALIZED, "the code is not that of a PE that has left");
    check_mentions(answer.why, "left the job");
  }
  meet(*join());  // PE 0 may hold the hub: it must not end before the others have left
}

void a_killed_pe_ends_the_questions_to_it(const Join& join) {
  auto job = join();
  const int victim = job->size() - 1;
  if (job->rank() == victim) job->publish("last words", bytes_of("x"));
  meet(*job);
  if (job->rank() == victim) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  Answers answers;
  const Question first = job->ask(victim, "never", answers.note("first"));
  const Question second = job->ask(victim, "not either", answers.note("second"));
  const Question of_another = job->ask(0, "later", answers.note("of another"));
  const auto took = time_of([&] { answers.wait_for(2); });
  check(took < 30s, "noticed too late");
  for (const std::size_t n : {1u, 2u}) {
    const auto [question, answer] = answers.wait_for(n);
    check(question != "of another", "a question to a PE that lives was answered");
    check(answer.code == CHIMEX_ERR_PEER_DEAD, "the code is not that of a dead peer");
    check_mentions(answer.why, "PE " + std::to_string(victim) + " is gone");
  }
  check(job->lookup(victim, "last words", soon()) == bytes_of("x"), "its last words are lost");
  const auto meet_survivors = [&](const std::string& key) {
    job->publish(key, {});
    for (int pe = 0; pe < victim; pe++) job->lookup(pe, key, soon());
  };
  meet_survivors("has heard");
  if (job->rank() == 0) job->publish("later", bytes_of("y"));
  check(answers.wait_for(3).second.value == bytes_of("y"), "wrong answer of one that lives");
  meet_survivors("has all");
}

}  // namespace

std::vector<Body> question_bodies() {
  return {CHIME_BODY(many_questions_may_be_open_at_once),
          CHIME_BODY(what_is_there_already_is_answered_too),
          CHIME_BODY(a_question_of_no_pe_is_an_error),
          CHIME_BODY(a_cancelled_question_is_not_answered),
          CHIME_BODY(who_leaves_has_its_open_questions_answered)};
}

std::vector<Body> last_question_bodies() {
  return {CHIME_BODY(a_killed_pe_ends_the_questions_to_it)};
}

}  // namespace chime::bootstrap::test
