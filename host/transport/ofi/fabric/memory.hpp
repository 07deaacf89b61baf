// Memory that the provider knows: the heap, or slots in its place, for peers; the rest, where the
// provider wants to know what it reads and writes here, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "host/transport/ofi/fabric/endpoint.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::ofi {

// How a peer names the heap, or the pool of slots, in requests.
struct RegionName {
  std::uint64_t address = 0;  // of its first byte
  std::uint64_t key = 0;
  std::vector<std::byte> raw_key = {};  // not empty: `key` is what comes of mapping it
};

class Memory {
 public:
  // The memory that peers may name.
  struct Shown {
    std::span<std::byte> heap;  // empty: the provider does not know such memory
    bool is_gpu;                // the heap's
    std::span<std::byte> pool;  // of the host's memory; empty: there is none
  };
  // Registers it. `endpoint` outlives this.
  Memory(Endpoint& endpoint, const ProviderFacts& facts, const Shown& shown);

  // Zeros of what there is not.
  RegionName heap_name() const { return heap_ ? name_of(*heap_) : RegionName{}; }
  RegionName pool_name() const { return pool_ ? name_of(*pool_) : RegionName{}; }
  // The key under which a peer's region goes here.
  std::uint64_t map(const RegionName& theirs);

  // From any thread. Null where the provider need not know.
  std::unique_ptr<Registration> add(std::byte* memory, std::size_t bytes);

  void forget_all() {
    const std::lock_guard lock(mutex_);
    known_.clear();
  }

  // The descriptor that a request over these bytes passes. Memory that nobody has made known
  // becomes known until give_back() with the same `borrower`. Throws Error.
  void* local_key(const void* borrower, std::byte* memory, std::size_t bytes);
  void give_back(const void* borrower) { borrowed_.erase(borrower); }

 private:
  using Region = Owned<fid_mr>;
  class Known;
  struct Named {
    std::span<std::byte> memory;
    Region region;

    bool holds(const std::byte* begin, std::size_t bytes) const {
      return begin >= memory.data() && begin + bytes <= memory.data() + memory.size();
    }
  };

  std::optional<Named> make_named(std::span<std::byte> memory, bool is_gpu);
  RegionName name_of(const Named& named) const;
  Region make_region(std::byte* memory, std::size_t bytes, std::uint64_t access, bool is_gpu);
  std::uint64_t new_key();
  void* known_key(const std::byte* memory, std::size_t bytes);

  Endpoint& endpoint_;
  const ProviderFacts& facts_;
  std::mutex mutex_;  // guards keys_ and known_
  std::uint64_t keys_ = 0;
  std::map<const std::byte*, std::pair<std::size_t, void*>> known_;  // bytes and key, by address
  const std::optional<Named> heap_, pool_;
  std::map<const void*, Region> borrowed_;
};

}  // namespace chime::host::ofi
