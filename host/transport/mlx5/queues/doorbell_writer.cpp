#include "host/transport/mlx5/queues/doorbell_writer.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "chime/abi/start_thread.h"

namespace chime::host::mlx5 {
namespace {

using std::chrono::microseconds;

constexpr microseconds kShortestSleep{20}, kLongestSleep{1000};

// Until when a kernel's doorbell may wait: it is seen at once while others come, and within the
// longest sleep after a rest.
class Rest {
 public:
  void after(bool was_rung) {
    if (was_rung) {
      *this = {};
    } else if (++idle_ <= DoorbellWriter::kLooksAwake) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(sleep_);
      sleep_ = std::min(2 * sleep_, kLongestSleep);
    }
  }

 private:
  int idle_ = 0;
  microseconds sleep_ = kShortestSleep;
};

}  // namespace

DoorbellWriter::~DoorbellWriter() {
  if (!thread_.joinable()) return;
  ends_.store(true, std::memory_order_relaxed);
  thread_.join();
  look();
}

void DoorbellWriter::start() {
  thread_ = abi::start_thread([this] { run(); });
}

void DoorbellWriter::run() {
  Rest rest;
  while (!ends_.load(std::memory_order_relaxed)) rest.after(look());
}

bool DoorbellWriter::look() {
  bool was_rung = false;
  for (Bell& bell : bells_) {
    // Pairs with the fence before the doorbell (device/path/nic/channel.cuh, c): requests and
    // record are whole.
    const std::uint64_t value =
        std::atomic_ref(const_cast<std::uint64_t&>(*bell.mailbox)).load(std::memory_order_acquire);
    if (value == bell.rung) continue;
    // Before the register, for the NIC; the one behind it empties a write-combining buffer.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_ref(*bell.reg).store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    bell.rung = value;
    was_rung = true;
  }
  looks_.fetch_add(1, std::memory_order_relaxed);
  return was_rung;
}

}  // namespace chime::host::mlx5
