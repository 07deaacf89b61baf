// What all bootstraps do alike: questions and waiting for their answers, and the node that is kept.
#include "bootstrap/bootstrap.hpp"

#include <algorithm>

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

// Who asks without waiting for a PE waits for the launcher's answer all the same.
constexpr std::chrono::seconds kAnswerTime{1};

std::string name_of(int pe, std::string_view key) {
  return "'" + std::string(key) + "' of PE " + std::to_string(pe);
}

std::string milliseconds_since(Clock::time_point begin) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

}  // namespace

NodeInfo node_of(int pe, std::vector<int> pes) {
  const auto lower = std::lower_bound(pes.begin(), pes.end(), pe) - pes.begin();
  const auto n = static_cast<int>(pes.size());
  return {.pes = std::move(pes), .my_pe = static_cast<int>(lower), .n_pes = n};
}

const NodeInfo& Bootstrap::node() const {
  std::lock_guard lock(one_asks_);
  if (!node_) node_ = find_node();
  return *node_;
}

Question Bootstrap::ask(int pe, std::string_view key, OnAnswer on_answer) const {
  return put(pe, key, true, std::move(on_answer));
}

Bytes Bootstrap::lookup(int pe, std::string_view key, Deadline deadline) const {
  const auto now = Clock::now();
  const bool may_wait = deadline > now;
  AwaitedAnswer awaited;
  const Question question = put(pe, key, may_wait, awaited.on_answer());
  try {
    return await(awaited, question, may_wait ? deadline : now + kAnswerTime, name_of(pe, key));
  } catch (const BootstrapError&) {
    const auto why = why_lost(pe);
    if (why.empty()) throw;
    throw BootstrapError(name_of(pe, key) + ": PE " + std::to_string(pe) + " is gone: " + why,
                         CHIMEX_ERR_PEER_DEAD);
  }
}

Bytes Bootstrap::await(AwaitedAnswer& awaited, const Question& question, Deadline deadline,
                       const std::string& what) const {
  const auto begin = Clock::now();
  auto answer = awaited.wait_until(deadline);
  if (!answer) {
    const auto waited = milliseconds_since(begin);
    throw BootstrapError(what + ": waited " + waited + " ms; " + why_open(question.id()),
                         CHIMEX_ERR_TIMEOUT);
  }
  if (answer->code != CHIMEX_OK) throw BootstrapError(what + ": " + answer->why, answer->code);
  return std::move(answer->value);
}

Question Bootstrap::put(int pe, std::string_view key, bool may_wait, OnAnswer on_answer) const {
  if (pe < 0 || pe >= size())
    throw BootstrapError(name_of(pe, key) + ": the job has PEs 0 to " + std::to_string(size() - 1),
                         CHIMEX_ERR_INVALID);
  Question question(questions_, questions_->open(std::move(on_answer)));
  try {
    look_for(question.id(), pe, key, may_wait);
  } catch (const BootstrapError& error) {
    throw BootstrapError(name_of(pe, key) + ": " + error.what(), error.code());
  }
  return question;
}

void Bootstrap::answer_those_still_open() {
  questions_->answer_all({.code = CHIMEX_ERR_NOT_INITIALIZED, .why = "this PE has left the job"});
}

}  // namespace chime::bootstrap
