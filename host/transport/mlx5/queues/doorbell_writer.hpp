// Doorbells that the host rings for kernels, where the GPU cannot map the NIC's registers.
//
// A kernel stores what it would store to the register into a word of memory, its queue pair's
// mailbox; a thread of the host carries it on. The latest value rings for all before it: posters
// store in order (device/channel/README.md, d), so a value that was overwritten is not missed.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace chime::host::mlx5 {

class DoorbellWriter {
 public:
  DoorbellWriter() = default;
  DoorbellWriter(const DoorbellWriter&) = delete;
  DoorbellWriter& operator=(const DoorbellWriter&) = delete;
  // Carries on what is in the mailboxes by then.
  ~DoorbellWriter();

  // `mailbox` holds 0, which is no doorbell. Before start().
  void add(const std::uint64_t* mailbox, std::uint64_t* reg) { bells_.push_back({mailbox, reg}); }
  void start();

  // How often all mailboxes were looked at. At rest a look waits for the sleep before it, of 1 ms,
  // and costs a few microseconds: less than 1 % of a core.
  std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }
  static constexpr int kLooksAwake = 1000;  // after the last doorbell, before it sleeps

 private:
  struct Bell {
    const std::uint64_t* mailbox;
    std::uint64_t* reg;
    std::uint64_t rung = 0;
  };

  void run();
  bool look();

  std::vector<Bell> bells_;
  std::atomic<std::uint64_t> looks_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace chime::host::mlx5
