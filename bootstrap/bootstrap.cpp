// The common part of all bootstraps: questions, waiting for their answers, and the cached node.
#include "bootstrap/bootstrap.hpp"

#include <algorithm>

#include "net/mesh/fields.hpp"

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

// A lookup that does not wait for its PE still waits for the launcher's answer: this long.
constexpr std::chrono::seconds kAnswerTime{1};

constexpr std::size_t kMostWords = 4096;  // of a failure; what is longer is cut

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
  const bool asks_for_failure = may_wait && n_setting_up_ > 0;
  Question of_failure;
  try {
    if (asks_for_failure && !awaited.has_come_by(std::min(deadline, now + kFailurePatience)))
      of_failure = ask_for_failure(pe, [&awaited](const SetupFailure& failure) {
        awaited.come({.code = failure.code, .why = failure.why});
      });
    return await(awaited, question, may_wait ? deadline : now + kAnswerTime, name_of(pe, key));
  } catch (const BootstrapError& error) {
    of_failure.cancel();
    if (asks_for_failure) {
      if (error.code() == CHIMEX_ERR_PEER_DEAD) hear_last_words_of(pe);
      throw_failure_if_heard();
    }
    const auto why = why_lost(pe);
    if (why.empty()) throw;
    throw BootstrapError(name_of(pe, key) + ": PE " + std::to_string(pe) + " is gone: " + why,
                         CHIMEX_ERR_PEER_DEAD);
  }
}

void Bootstrap::tell_failure(chimex_status code, std::string_view why) noexcept try {
  SetupFailure reported;
  {
    const std::lock_guard lock(one_hears_);
    if (std::exchange(has_reported_failure_, true)) return;
    if (!failure_)
      failure_ = {code, "PE " + std::to_string(rank()) +
                            " could not set up: " + std::string(why.substr(0, kMostWords))};
    reported = *failure_;
  }
  if (size() == 1) return;
  publish_in_passing(kSetupFailureKey, written(reported));
} catch (const std::exception&) {
  // The failure cannot be reported: the time limit of the other PEs ends their waits.
}

Question Bootstrap::ask_for_failure(
    int pe, std::function<void(const SetupFailure& failure)> on_failure) const {
  return ask(pe, kSetupFailureKey,
             [this, pe, on_failure = std::move(on_failure)](const Answer& answer) {
               if (answer.code == CHIMEX_OK) on_failure(failure_in(pe, answer.value));
             });
}

// Called by what hears it, which must not throw.
SetupFailure Bootstrap::failure_in(int pe, std::span<const std::byte> endpoint_info) const {
  const SetupFailure heard =
      read_setup_failure(endpoint_info)
          .value_or(SetupFailure{CHIMEX_ERR_MISMATCH,
                                 "PE " + std::to_string(pe) + " runs another version of Chime"});
  const std::lock_guard lock(one_hears_);
  if (!failure_) failure_ = heard;
  return heard;
}

// A PE that has left, or whose process has ended, may have published why. Does nothing if that is
// not known.
void Bootstrap::hear_last_words_of(int pe) const try {
  AwaitedAnswer awaited;
  const Question question = put(pe, kSetupFailureKey, false, awaited.on_answer());
  const auto answer = awaited.wait_until(Clock::now() + kAnswerTime);
  if (answer && answer->code == CHIMEX_OK) failure_in(pe, answer->value);
} catch (const BootstrapError&) {
  // Nobody can be asked any more.
}

void Bootstrap::throw_failure_if_heard() const {
  const std::lock_guard lock(one_hears_);
  if (failure_) throw BootstrapError(failure_->why, failure_->code);
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
