#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix/pmix_asker.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bootstrap/bootstrap.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause = 1ms;  // between two askings for an endpoint info that is not there
constexpr auto kLongestPauseOfAnAsker = 50ms;
// PMIx counts in seconds. The time is short, so that a death is noticed in between, and the
// launcher soon drops a question that nobody needs any more.
constexpr int kGetSeconds = 1;
// A launcher that has not answered by then will not: it is asked anew.
constexpr std::chrono::milliseconds kOverdue = std::chrono::seconds(2 * kGetSeconds);
constexpr auto kLookForOverdue = kOverdue / 4;

bool is_endpoint_info(pmix_status_t status, const pmix_value_t* value) {
  return status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_BYTE_OBJECT &&
         value->data.bo.size > 0;
}

// Takes the endpoint info out of the value. PMIx before 3.2 frees the value; since then nothing
// does, and without its endpoint info it is 32 bytes.
Bytes take_endpoint_info(pmix_value_t& value) {
  auto& object = value.data.bo;
  const auto* bytes = reinterpret_cast<const std::byte*>(object.bytes);
  Bytes endpoint_info(bytes, bytes + object.size - 1);  // publish() has added one
  std::free(object.bytes);
  object = {};
  return endpoint_info;
}

}  // namespace

// PMIx copies none of what it is asked with.
struct PmixAsker::Asked {
  std::shared_ptr<PmixAsker> asker;
  OpenQuestions::Id question;
  EndpointInfo endpoint_info;
  bool may_wait;
  pmix_proc_t owner;
  pmix_info_t how;
  std::chrono::milliseconds pause = kFirstPause;
  std::uint64_t number = 0;                  // of this sending
  pmix_status_t refused = PMIX_SUCCESS;      // by PMIx at once, which calls nobody back then
  Clock::time_point checked = Clock::now();  // whether the PE is gone
  std::string gone = {};                     // why it is, if this is the last time
};

PmixAsker::PmixAsker(PmixClient& client, std::shared_ptr<OpenQuestions> questions)
    : client_(client), questions_(std::move(questions)) {}
PmixAsker::~PmixAsker() = default;

void PmixAsker::ask(OpenQuestions::Id question, EndpointInfo endpoint_info, bool may_wait) {
  send(make(question, std::move(endpoint_info), may_wait));
}

std::unique_ptr<PmixAsker::Asked> PmixAsker::make(OpenQuestions::Id question,
                                                  EndpointInfo endpoint_info, bool may_wait) {
  const auto owner = pmix_proc(client_.name_space(), static_cast<pmix_rank_t>(endpoint_info.pe));
  const auto how = may_wait ? pmix_seconds(PMIX_TIMEOUT, kGetSeconds) : pmix_flag(PMIX_IMMEDIATE);
  return std::make_unique<Asked>(
      Asked{shared_from_this(), question, std::move(endpoint_info), may_wait, owner, how});
}

void PmixAsker::send(std::unique_ptr<Asked> asked) {
  if (asked->may_wait) {
    const std::lock_guard lock(mutex_);
    if (must_stop_) return;
    if (const auto why = why_no_thread(); !why.empty()) throw BootstrapError(why);
    asked->number = ++n_sent_;
    sent_[asked->question] = {asked->number, Clock::now() + kOverdue, asked->endpoint_info,
                              asked->pause, asked->gone};
    if (sent_.size() == 1) changed_.notify_one();
  }
  Asked* const sent = asked.release();
  const auto status = client_.library().get_nb(&sent->owner, sent->endpoint_info.key.c_str(),
                                               &sent->how, 1, &PmixAsker::hear, sent);
  if (status == PMIX_SUCCESS) return;
  sent->refused = status;
  hear_later(std::unique_ptr<Asked>(sent));
}

// On this object's thread: the callback must not run before the asking call has returned.
void PmixAsker::hear_later(std::unique_ptr<Asked> asked) {
  const std::lock_guard lock(mutex_);
  if (must_stop_) return;
  if (const auto why = why_no_thread(); !why.empty()) throw BootstrapError(why);
  later_.emplace(Clock::now(), std::move(asked));
  changed_.notify_one();
}

// Called by PMIx's own thread, which no wait may hold up.
void PmixAsker::hear(pmix_status_t status, pmix_value_t* value, void* pointer) {
  std::unique_ptr<Asked> asked(static_cast<Asked*>(pointer));
  const auto asker = asked->asker;
  asker->hear(std::move(asked), status, value);
}

void PmixAsker::hear(std::unique_ptr<Asked> asked, pmix_status_t status, pmix_value_t* value) {
  const bool is_due = take_answer_to(*asked);
  if (is_endpoint_info(status, value)) {
    answer(*asked, {.value = take_endpoint_info(*value)});
  } else if (!is_due) {
    // It was asked anew meanwhile, and that one goes on.
  } else if (!asked->may_wait) {
    answer(*asked,
           {.code = CHIMEX_ERR_TIMEOUT, .why = not_published(asked->endpoint_info.pe, status)});
  } else if (!asked->gone.empty()) {
    answer_as_gone(*asked);
  } else {
    ask_later(std::move(asked), status);
  }
}

// Whether no later one was sent.
bool PmixAsker::take_answer_to(const Asked& asked) {
  if (!asked.may_wait) return true;
  const std::lock_guard lock(mutex_);
  const auto sent = sent_.find(asked.question);
  if (sent == sent_.end() || sent->second.number != asked.number) return false;
  sent_.erase(sent);
  return true;
}

// With mutex_ held. PMIx keeps the old ones, and may answer them still.
std::vector<std::unique_ptr<PmixAsker::Asked>> PmixAsker::take_overdue(Clock::time_point now) {
  std::vector<std::unique_ptr<Asked>> overdue;
  for (auto at = sent_.begin(); at != sent_.end();) {
    const auto sent = at++;
    if (sent->second.overdue > now) continue;
    auto node = sent_.extract(sent);
    Sent& old = node.mapped();
    overdue.push_back(make(node.key(), std::move(old.endpoint_info), true));
    overdue.back()->pause = old.pause;
    overdue.back()->gone = std::move(old.gone);
    overdue.back()->checked = {};  // its PE may be why
  }
  return overdue;
}

void PmixAsker::ask_later(std::unique_ptr<Asked> asked, pmix_status_t status) {
  std::unique_lock lock(mutex_);
  if (must_stop_) return;
  if (const auto why = why_no_thread(); !why.empty()) {
    lock.unlock();
    return answer(*asked, {.code = CHIMEX_ERR_SYSTEM, .why = why});
  }
  // One that the launcher has held for so long is looked at now.
  if (status == PMIX_ERR_TIMEOUT) asked->checked = {};
  heard_[asked->question] = not_published(asked->endpoint_info.pe, status);
  const auto when = Clock::now() + asked->pause;
  asked->pause = std::min(2 * asked->pause, std::chrono::milliseconds(kLongestPauseOfAnAsker));
  later_.emplace(when, std::move(asked));
  changed_.notify_one();
}

// With mutex_ held. No exception may leave a callback of PMIx's.
std::string PmixAsker::why_no_thread() try {
  if (!thread_.joinable()) thread_ = abi::start_thread([this] { serve(); });
  return "";
} catch (const std::exception& error) {
  return error.what();
}

void PmixAsker::serve() {
  std::unique_lock lock(mutex_);
  auto look_at = Clock::now() + kLookForOverdue;  // at those that PMIx has not answered
  while (!must_stop_) {
    const auto now = Clock::now();
    if (now >= look_at) {
      look_at = now + kLookForOverdue;
      auto overdue = take_overdue(now);
      lock.unlock();
      for (auto& asked : overdue) ask_again(std::move(asked));
      lock.lock();
    } else if (!later_.empty() && later_.begin()->first <= now) {
      auto due = later_.extract(later_.begin());
      lock.unlock();
      ask_again(std::move(due.mapped()));
      lock.lock();
    } else if (later_.empty() && sent_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock,
                          later_.empty() ? look_at : std::min(look_at, later_.begin()->first));
    }
  }
}

void PmixAsker::ask_again(std::unique_ptr<Asked> asked) {
  if (!questions_->is_open(asked->question)) return answer(*asked, {});  // to nobody
  if (const auto refused = std::exchange(asked->refused, PMIX_SUCCESS); refused != PMIX_SUCCESS)
    return hear(std::move(asked), refused, nullptr);
  if (!asked->gone.empty()) return answer_as_gone(*asked);
  if (const auto now = Clock::now(); now - asked->checked > std::chrono::seconds(kGetSeconds)) {
    asked->checked = now;
    asked->gone = why_gone(asked->endpoint_info.pe);
    if (!asked->gone.empty()) asked->how = pmix_flag(PMIX_IMMEDIATE);
  }
  send(std::move(asked));
}

// Not every launcher says which PE is lost. A PE whose process has ended will leave no more
// endpoint infos, so it counts as gone. Its last endpoint infos are asked for once more.
std::string PmixAsker::why_gone(int pe) {
  const auto why = client_.why_lost(pe);
  return why.empty() ? client_.how_ended(pe) : why;
}

void PmixAsker::answer_as_gone(const Asked& asked) {
  answer(asked,
         {.code = CHIMEX_ERR_PEER_DEAD,
          .why = "PE " + std::to_string(asked.endpoint_info.pe) + " is gone: " + asked.gone});
}

void PmixAsker::answer(const Asked& asked, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    heard_.erase(asked.question);
    sent_.erase(asked.question);
  }
  questions_->answer(asked.question, std::move(answer));
}

std::string PmixAsker::not_published(int pe, pmix_status_t status) const {
  return "PE " + std::to_string(pe) + " has not published it (PMIx: " + client_.words(status) + ")";
}

std::string PmixAsker::why_open(OpenQuestions::Id question) const {
  const std::lock_guard lock(mutex_);
  const auto heard = heard_.find(question);
  return heard == heard_.end() ? "the PMIx launcher has not answered yet" : heard->second;
}

void PmixAsker::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  if (thread.joinable()) thread.join();
  later_.clear();
  sent_.clear();
}

}  // namespace chime::bootstrap

#endif  // CHIME_HAVE_PMIX
