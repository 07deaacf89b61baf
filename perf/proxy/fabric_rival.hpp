// One endpoint of libfabric with memory that the other side may write: plain fi_write, as any
// program uses it. fabric_absent.cpp: a build without libfabric, where there is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace chime::perf {

class FabricRival {
 public:
  // The data that the other side needs. As bytes, because Chime carries it.
  struct EndpointInfo {
    std::uint64_t memory, key;
    std::uint64_t address_bytes;
    std::uint8_t address[256];
  };
  // Whether a write ends when it is sent, or when it is in the other side's memory.
  enum class Ends { kSent, kDelivered };

  // Null if the build has no libfabric. `provider`: its name; with TCP it uses loopback. `bytes`:
  // the longest write. Throws std::runtime_error.
  static std::unique_ptr<FabricRival> open(const std::string& provider, std::size_t bytes);
  virtual ~FabricRival() = default;

  virtual EndpointInfo endpoint_info() const = 0;
  virtual void connect(const EndpointInfo& peer) = 0;

  // Posts a write of `bytes` bytes, and waits while the provider has no room.
  virtual void write(std::size_t bytes, Ends ends) = 0;
  // The same of one word with this value, to the word that the other side reads.
  virtual void write_word(std::uint64_t value, Ends ends) = 0;
  virtual std::uint64_t word() const = 0;

  // Looks once for writes that have ended, and lets the provider work. Returns whether there were
  // any. From any thread.
  virtual bool progress() = 0;
  // How many writes have ended.
  virtual std::uint64_t ended() const = 0;
};

// The second of the two threads on the proxy's path: lets the provider work while this object
// lives.
class FabricThread {
 public:
  explicit FabricThread(FabricRival& rival);
  ~FabricThread();
  FabricThread(const FabricThread&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace chime::perf
