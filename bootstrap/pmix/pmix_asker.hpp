// Questions to a PMIx launcher, which may say "not found" of an endpoint info that comes later
// (pmix.cpp), or nothing at all: so each is asked again and again, until the endpoint info is
// there, its PE is known to be gone, or the question is closed. Needs PMIx's headers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/hub/question.hpp"
#include "bootstrap/pmix/pmix_client.hpp"

namespace chime::bootstrap {

// PMIx forgets no question, and answers those that nobody has open any more, too: it holds the
// asker as long as it has one.
class PmixAsker : public std::enable_shared_from_this<PmixAsker> {
 public:
  struct EndpointInfo {
    int pe;
    std::string key;  // the launcher's
  };

  PmixAsker(PmixClient& client, std::shared_ptr<OpenQuestions> questions);
  ~PmixAsker();

  // As Bootstrap::look_for.
  void ask(OpenQuestions::Id question, EndpointInfo endpoint_info, bool may_wait);
  // Why it has no answer yet, with the launcher's own words.
  std::string why_open(OpenQuestions::Id question) const;
  // Nothing is asked any more. Before the bootstrap lets go of it.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Asked;

  std::unique_ptr<Asked> make(OpenQuestions::Id question, EndpointInfo endpoint_info,
                              bool may_wait);
  void send(std::unique_ptr<Asked> asked);
  static void hear(pmix_status_t status, pmix_value_t* value, void* asked);
  void hear(std::unique_ptr<Asked> asked, pmix_status_t status, pmix_value_t* value);
  void hear_later(std::unique_ptr<Asked> asked);
  void ask_later(std::unique_ptr<Asked> asked, pmix_status_t status);
  std::string why_no_thread();
  void serve();
  void ask_again(std::unique_ptr<Asked> asked);
  bool take_answer_to(const Asked& asked);
  std::vector<std::unique_ptr<Asked>> take_overdue(Clock::time_point now);
  std::string why_gone(int pe);
  void answer_as_gone(const Asked& asked);
  void answer(const Asked& asked, Answer answer);
  std::string not_published(int pe, pmix_status_t status) const;

  PmixClient& client_;
  const std::shared_ptr<OpenQuestions> questions_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::unique_ptr<Asked>> later_;
  std::map<OpenQuestions::Id, std::string> heard_;  // of those without an answer
  struct Sent {
    std::uint64_t number;
    Clock::time_point overdue;
    EndpointInfo endpoint_info;
    std::chrono::milliseconds pause;
    std::string gone;
  };
  std::map<OpenQuestions::Id, Sent> sent_;  // those that may wait, and that PMIx has not answered
  std::uint64_t n_sent_ = 0;
  bool must_stop_ = false;
  std::thread thread_;  // runs once something may have to be asked again
};

}  // namespace chime::bootstrap
