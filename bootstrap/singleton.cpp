#include "bootstrap/singleton.hpp"

#include <condition_variable>
#include <map>
#include <mutex>

#include "bootstrap/token.hpp"

namespace chime::bootstrap {
namespace {

class Singleton final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<int> node_peers() const override { return {0}; }
  std::string job_id() const override { return job_id_of(token_); }
  Bytes job_secret() const override { return job_secret_of(token_); }

  void publish(std::string_view key, std::span<const std::byte> value) override {
    std::lock_guard lock(mutex_);
    published_.insert_or_assign(std::string(key), Bytes(value.begin(), value.end()));
    has_published_.notify_all();
  }

  // Another thread of this PE may publish while this one waits.
  Bytes lookup(int pe, std::string_view key, Deadline deadline) override {
    const auto what = "'" + std::string(key) + "' of PE " + std::to_string(pe);
    if (pe != 0) throw BootstrapError(what + ": the job has PEs 0 to 0");
    std::unique_lock lock(mutex_);
    if (!has_published_.wait_until(lock, deadline, [&] { return published_.contains(key); }))
      throw BootstrapError(what + ": PE 0 has not published it in time");
    return published_.find(key)->second;
  }

  void barrier(Deadline) override {}
  void abort(int, std::string_view) noexcept override {}
  void on_peer_lost(std::function<void(int, std::string)>) override {}
  std::string why_lost(int) const override { return ""; }
  std::string describe() const override { return "no launcher, PE 0 of 1"; }

 private:
  const Token token_ = net::random_token();
  std::mutex mutex_;
  std::condition_variable has_published_;
  std::map<std::string, Bytes, std::less<>> published_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_singleton() { return std::make_unique<Singleton>(); }

}  // namespace chime::bootstrap
