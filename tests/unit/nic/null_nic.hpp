// A NIC in a thread: takes work requests from queue memory, executes them between the heaps of a
// FakeJob, and writes completions. It implements the format from its description, shares no code
// with the poster, and reports everything that a NIC would stumble over.
//
// All queues belong to PE 0.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "fake_job.hpp"

namespace chime::tests {

struct NicPlan {
  unsigned slots = 1;
  std::uint32_t first = 0;  // channel of the pool; those before it belong to others
  std::uint32_t depth = 128;
  abi::NicCqMode mode = abi::NicCqMode::kCollapsed;
  std::uint32_t flags = abi::kNicResult4Big | abi::kNicResult8Big;
  std::uint64_t start = 0, cq_start = 0;
  std::uint32_t staging_slots = 4, staging_slot_bytes = 1024;
  bool is_lazy = false;   // queues pause at random, so that others overtake them
  bool reorders = false;  // others may overtake a write, until it or a later one is complete
};

class NullNic {
 public:
  NullNic(FakeJob& job, int n_pes, const NicPlan& plan);
  ~NullNic();

  // For the Context of PE 0.
  const abi::Channels& channels() const { return channels_; }
  const abi::NicMemory& memory() const { return memory_; }
  abi::Channel& queue(int pe, unsigned slot = 0);
  const abi::ChannelFault& fault(int pe, unsigned slot = 0);

  // The index of the last doorbell.
  std::uint16_t rung(int pe, unsigned slot = 0);

  // Memory that is registered beside the heap.
  std::byte* buffer() { return buffer_.data(); }
  static constexpr std::size_t kBufferBytes = 64 * 1024;
  abi::NicBuffers& buffers() { return buffers_; }

  // Between these calls no request is carried out.
  void hold();
  void go_on();

  // Called in the NIC's thread after every request that it has carried out.
  void watch(std::function<void()> look);

  // A write or read, as in the queue. Without `local` the request contains the data.
  struct Transfer {
    unsigned opcode;
    std::uint64_t remote, local, bytes;
  };
  // From now on requests are recorded and completed, but not carried out.
  void note_only();
  std::vector<Transfer> noted();

  // The request with this index fails, and later ones are flushed.
  void fail_at(int pe, std::uint64_t index, unsigned syndrome);

  struct Counts {
    unsigned requests = 0, completions = 0, dumps = 0;
  };
  Counts counts(int pe, unsigned slot = 0);

  // The faults of the requests; empty if there are none.
  std::string complaints();

 private:
  struct Queue;
  struct Wqe;
  struct Range {
    std::uint64_t nic;
    std::byte* memory;
    std::size_t bytes;
    std::uint32_t key;
  };

  void set_up_peers(FakeJob& job);
  void set_up_queue(int pe, unsigned slot);
  void mark_memory();
  void run();
  bool rests();
  bool step(Queue& queue);
  void look_ahead(Queue& queue, std::uint64_t doorbell);
  void execute(Queue& queue);
  unsigned carry_out(Queue& queue, const Wqe& wqe);  // a syndrome, 0: done
  void note(const Wqe& wqe);
  void write(Queue& queue, std::byte* to, const std::byte* from, std::size_t bytes);
  void place_late(Queue& queue);
  void complete(Queue& queue, const Wqe& wqe, unsigned syndrome);
  std::byte* local(std::uint64_t address, std::uint32_t key, std::size_t bytes) const;
  std::byte* remote(std::uint64_t address, std::uint32_t key, std::size_t bytes, int pe) const;
  void complain(const Queue& queue, const std::string& what);

  const NicPlan plan_;
  const int n_pes_;
  abi::Channels channels_{};
  abi::NicMemory memory_{};
  std::vector<std::uint32_t> route_;  // [pe]
  std::vector<Range> heaps_;          // [pe]
  std::vector<Range> locals_;         // memory that this PE's requests may name
  abi::NicBuffer registered_{};
  abi::NicBuffers buffers_{};
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> touched_, staging_busy_;
  std::vector<abi::ChannelFault> faults_;
  abi::Watch watch_{};
  std::unique_ptr<abi::Channel[]> queues_;  // the whole pool
  std::vector<std::unique_ptr<Queue>> state_;
  std::unique_ptr<std::byte[]> staging_;
  MemoryKinds kinds_;

  std::mutex mutex_;  // guards the NIC's thread against the calls above
  std::string complaints_;
  std::function<void()> look_;
  bool held_ = false, notes_only_ = false;
  std::vector<Transfer> noted_;
  std::minstd_rand random_;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

}  // namespace chime::tests
