// The proxy as a thread: takes requests from the FIFOs of PE 0 (proxy/fifo.hpp) and carries them
// out between the heaps of a FakeJob. It reports everything that a transport would stumble over.
#pragma once

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
#include "chime/abi/proxy_fifo.h"
#include "fake_job.hpp"
#include "proxy/fifo.hpp"

namespace chime::tests {

// How requests end.
enum class Pace {
  kAtOnce,  // each before the next is taken
  kLate,    // in any order, some time after they were carried out in order
  kAny      // carried out in any order, except that an atomic follows the puts before it
};

struct ProxyPlan {
  unsigned fifos = 1;
  std::uint32_t depth = 64;
  std::uint32_t flags = 0;
  std::uint32_t staging_slots = 4, staging_slot_bytes = 1024;
  Pace pace = Pace::kAtOnce;
};

class FakeProxy {
 public:
  FakeProxy(FakeJob& job, int n_pes, const ProxyPlan& plan);
  ~FakeProxy();

  // For the Context of PE 0.
  const abi::Channels& channels() const { return channels_; }
  const abi::NicMemory& memory() const { return memory_; }
  abi::Channel& fifo(unsigned number = 0) { return pool_[number]; }
  const abi::ChannelFault& fault(unsigned number = 0) { return faults_[number]; }

  // Memory that is registered beside the heap.
  std::byte* buffer() { return buffer_.data(); }
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  // Between these calls nothing is taken out, and nothing ends.
  void hold();
  void go_on();
  // Called in the proxy's thread after every step of a request that it has carried out.
  void watch(std::function<void()> look);

  // Requests to this peer fail from now on.
  void lose(int pe, chimex_status status = CHIMEX_ERR_PEER_DEAD);

  // Requests to this peer are taken, and neither carried out nor ended, until it answers again.
  void silence(int pe);
  void answer(int pe);
  // Requests that were taken out and have not ended.
  std::size_t on_their_way();

  // Requests that were taken out, in their order.
  std::vector<abi::ProxyRequest> taken();
  std::uint64_t slots_taken(unsigned number = 0);

  // The faults of the requests; empty if there are none.
  std::string complaints();

 private:
  struct OnItsWay {
    unsigned fifo;
    proxy::Fifo::Request* request;
    bool has_put, has_updated;  // its actions, in these steps
    bool is_done() const { return has_put && has_updated; }
  };
  struct Shared;  // of one FIFO, as it lies in memory

  void set_up_fifo(unsigned number);
  void set_up_memory(FakeJob& job);
  void mark_memory();
  void run();
  bool step();
  bool take(unsigned number);
  bool move_one();
  bool carry_out(std::size_t at);
  bool may_update(std::size_t at) const;
  void end(std::size_t at);
  void move_data(const proxy::Fifo::Request& request);
  void update(const abi::ProxyRequest& what, std::uint64_t at, AmoOp op, std::uint64_t bytes,
              std::uint64_t operand, std::uint64_t compare, std::byte* before);
  std::byte* at_peer(const abi::ProxyRequest& what, std::uint64_t at, std::uint64_t bytes);
  bool is_known(const std::byte* here, std::uint64_t bytes) const;
  void complain(const std::string& what);

  const ProxyPlan plan_;
  const int n_pes_;
  std::vector<std::byte*> heaps_;
  abi::Channels channels_{};
  abi::NicMemory memory_{};
  std::vector<std::uint32_t> route_;
  std::unique_ptr<abi::Channel[]> pool_;
  std::vector<std::unique_ptr<Shared>> shared_;
  std::vector<abi::ChannelFault> faults_;
  std::uint64_t touched_ = 0;
  abi::Watch watch_{};
  std::vector<std::uint64_t> lost_bits_, at_limit_bits_, staging_busy_;
  std::vector<std::byte> buffer_;
  abi::NicBuffer registered_{};
  abi::NicBuffers buffers_{};
  struct alignas(128) StagingLine {
    std::byte bytes[128];
  };
  std::unique_ptr<StagingLine[]> staging_;
  MemoryKinds kinds_;

  std::mutex mutex_;  // guards the thread against the calls above
  proxy::LostPeers lost_;
  proxy::PeersAtLimit at_limit_;
  std::vector<proxy::Fifo> consumers_;
  std::vector<OnItsWay> on_their_way_;
  std::vector<abi::ProxyRequest> taken_;
  std::vector<chimex_status> status_;  // of each peer
  std::vector<bool> is_silent_;
  std::string complaints_;
  std::function<void()> look_;
  bool held_ = false;
  std::minstd_rand random_;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

}  // namespace chime::tests
