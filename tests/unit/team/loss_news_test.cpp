// PEs without a device learn of a loss in a large job, without a request for each PE.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "bootstrap/hub/lost_peers.hpp"
#include "host/collective/loss_notifications.hpp"
#include "host/errors/abort.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;

// PE 0 of a hundred thousand, under a launcher that reports lost PEs on request.
class LargeJob final : public bootstrap::Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 100'000; }
  std::string job_id() const override { return "job"; }
  bootstrap::Bytes job_secret() const override { return bootstrap::Bytes(32); }
  void publish(std::string_view, std::span<const std::byte>) override {}
  void abort(int, std::string_view) noexcept override {}
  void on_peer_lost(std::function<void(int, std::string)> lost) override {
    lost_.tell_to(std::move(lost));
  }
  void ask_who_is_lost() const override {
    ++asked;
    if (const int pe = dies.exchange(-1); pe >= 0) lost_.add(pe, "it has died");
  }
  std::string why_lost(int pe) const override {
    ++asked_for_one;
    return lost_.why(pe);
  }
  std::string describe() const override { return "a large job"; }

  mutable std::atomic<int> asked = 0, asked_for_one = 0, dies = -1;

 private:
  bootstrap::NodeInfo find_node() const override { return {}; }
  void look_for(bootstrap::OpenQuestions::Id, int, std::string_view, bool) const override {}
  std::string why_open(bootstrap::OpenQuestions::Id) const override { return ""; }

  mutable bootstrap::LostPeers lost_;
};

TEST(LossNotifications, CostWhatThereIsToTell) {
  LargeJob job;
  abi::AbortWord abort{};
  const LossNotifications news(job, abort);
  while (job.asked < 3) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(abort_cause(abort));
  job.dies = 99'999;
  while (!abort_cause(abort)) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(abort_cause(abort)->pe, 99'999);
  EXPECT_EQ(abort_cause(abort)->why, "PE 99999 is gone: it has died");
  EXPECT_EQ(job.asked_for_one, 0);
}

// Its thread does not outlive it, and no callback follows.
TEST(LossNotifications, EndWithIt) {
  LargeJob job;
  abi::AbortWord abort{};
  { const LossNotifications news(job, abort); }
  const int asked = job.asked;
  job.dies = 1;
  job.ask_who_is_lost();
  EXPECT_FALSE(abort_cause(abort));
  EXPECT_EQ(job.asked, asked + 1);
}

}  // namespace
}  // namespace chime::host
