#include "bootstrap/singleton.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "bootstrap/hub/token.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {
namespace {

class Singleton final : public Bootstrap {
 public:
  ~Singleton() override {
    answer_those_still_open();
    {
      std::lock_guard lock(mutex_);
      must_stop_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string job_id() const override { return job_id_of(token_); }
  Bytes job_secret() const override { return job_secret_of(token_); }

  void publish(std::string_view key, std::span<const std::byte> value) override {
    std::lock_guard lock(mutex_);
    published_.insert_or_assign(std::string(key), Bytes(value.begin(), value.end()));
    changed_.notify_all();
  }

  void abort(int, std::string_view) noexcept override {}
  void on_peer_lost(std::function<void(int, std::string)>) override {}
  std::string why_lost(int) const override { return ""; }
  std::string describe() const override { return "no launcher, PE 0 of 1"; }

 private:
  struct Asked {
    OpenQuestions::Id question;
    std::string key;
    bool may_wait;
  };

  NodeInfo find_node() const override { return node_of(0, {0}); }

  // Its own thread answers, so that the callback does not run inside the asking call. Most jobs of
  // one PE never need the thread.
  void look_for(OpenQuestions::Id question, int, std::string_view key,
                bool may_wait) const override {
    std::lock_guard lock(mutex_);
    asked_.push_back({question, std::string(key), may_wait});
    changed_.notify_all();
    if (!thread_.joinable()) thread_ = abi::start_thread([this] { serve(); });
  }

  std::string why_open(OpenQuestions::Id) const override { return "PE 0 has not published it"; }

  void serve() const {
    std::unique_lock lock(mutex_);
    while (!must_stop_) {
      const auto known = std::find_if(asked_.begin(), asked_.end(), [this](const Asked& asked) {
        return !asked.may_wait || published_.contains(asked.key) ||
               !questions()->is_open(asked.question);
      });
      if (known == asked_.end()) {
        changed_.wait(lock);
        continue;
      }
      const auto question = known->question;
      Answer answer = answer_to(*known);
      asked_.erase(known);
      lock.unlock();
      questions()->answer(question, std::move(answer));
      lock.lock();
    }
  }

  // With mutex_ held.
  Answer answer_to(const Asked& asked) const {
    if (const auto found = published_.find(asked.key); found != published_.end())
      return {.value = found->second};
    return {.code = CHIMEX_ERR_TIMEOUT, .why = "PE 0 has not published it"};
  }

  const Token token_ = net::random_token();
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable changed_;
  std::map<std::string, Bytes, std::less<>> published_;
  mutable std::vector<Asked> asked_;
  bool must_stop_ = false;
  mutable std::thread thread_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_singleton() { return std::make_unique<Singleton>(); }

}  // namespace chime::bootstrap
