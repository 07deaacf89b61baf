// A fabric with delays: a request to a PE ends a fixed number of microseconds after it was posted,
// each by itself. Requests move nothing.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "stand_in_fabric.hpp"

namespace chime::perf {

class LateFabric final : public StandInFabric {
 public:
  using Clock = std::chrono::steady_clock;

  // `delays[pe]`, of requests to it.
  explicit LateFabric(std::vector<std::chrono::microseconds> delays)
      : delays_(std::move(delays)), on_their_way_(delays_.size()) {}

 private:
  struct Request {
    Clock::time_point due;
    std::uint64_t completion;
  };

  bool post(const host::HostRequest& request, std::uint64_t completion) override {
    const auto pe = static_cast<std::size_t>(request.pe);
    on_their_way_[pe].push_back({Clock::now() + delays_[pe], completion});
    return true;
  }
  std::size_t poll(std::span<Ended> ended) override {
    const auto now = Clock::now();
    std::size_t count = 0;
    is_busy_ = false;
    for (auto& requests : on_their_way_) {
      for (; count < ended.size() && !requests.empty() && requests.front().due <= now;
           requests.pop_front())
        ended[count++] = {requests.front().completion, CHIMEX_OK};
      is_busy_ |= !requests.empty();
    }
    return count;
  }
  // Requests in flight count as work: the proxy's thread does not sleep.
  bool has_moved() const override { return is_busy_; }

  const std::vector<std::chrono::microseconds> delays_;
  std::vector<std::deque<Request>> on_their_way_;  // by PE, in the order of their ends
  bool is_busy_ = false;
};

}  // namespace chime::perf
