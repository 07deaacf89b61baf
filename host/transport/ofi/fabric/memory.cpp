#include "host/transport/ofi/fabric/memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "host/errors/error.hpp"
#include "net/secure/secret.hpp"

namespace chime::host::ofi {
namespace {

constexpr std::uint64_t kByUs = FI_READ | FI_WRITE | FI_SEND | FI_RECV;
constexpr std::uint64_t kByPeers = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::size_t kMostRawKeyBytes = 64;

}  // namespace

// Other memory, for as long as its owner keeps this.
class Memory::Known final : public Registration {
 public:
  Known(Memory& memory, const std::byte* begin, Region region)
      : memory_(memory), begin_(begin), region_(std::move(region)) {}
  ~Known() override {
    const std::lock_guard lock(memory_.mutex_);
    memory_.known_.erase(begin_);
  }

 private:
  Memory& memory_;
  const std::byte* const begin_;
  const Region region_;
};

Memory::Memory(Endpoint& endpoint, const ProviderFacts& facts, const Shown& shown)
    : endpoint_(endpoint),
      facts_(facts),
      heap_(make_named(shown.heap, shown.is_gpu)),
      pool_(make_named(shown.pool, false)) {}

std::optional<Memory::Named> Memory::make_named(std::span<std::byte> memory, bool is_gpu) {
  if (memory.empty()) return std::nullopt;
  return Named{memory, make_region(memory.data(), memory.size(), kByUs | kByPeers, is_gpu)};
}

// Random where there is room for it: what listens at a port hears strangers, too, and a key that
// cannot be guessed is all that keeps them off the heap.
std::uint64_t Memory::new_key() {
  const std::lock_guard lock(mutex_);
  if (facts_.key_bytes < sizeof(std::uint64_t)) return ++keys_;
  std::uint64_t key;
  std::memcpy(&key, net::random_token().data(), sizeof key);
  return key;
}

// Only the heap is known to be a GPU's memory.
Memory::Region Memory::make_region(std::byte* memory, std::size_t bytes, std::uint64_t access,
                                   bool is_gpu) {
  iovec piece{memory, bytes};
  fi_mr_attr attributes{};
  attributes.mr_iov = &piece;
  attributes.iov_count = 1;
  attributes.access = access;
  attributes.requested_key = facts_.chooses_keys ? 0 : new_key();
  attributes.iface = is_gpu ? FI_HMEM_CUDA : FI_HMEM_SYSTEM;
  fid_mr* made = nullptr;
  check_fabric(fi_mr_regattr(endpoint_.domain(), &attributes, 0, &made),
               fmt::format("{} bytes at {} cannot be registered with {}", bytes,
                           static_cast<const void*>(memory), facts_.name),
               "raise the limit of locked memory (ulimit -l)");
  Region region(made);
  if (facts_.binds_memory) {
    check_fabric(fi_mr_bind(made, &endpoint_.sender()->fid, 0), "binding memory to the endpoint");
    check_fabric(fi_mr_enable(made), "enabling memory");
  }
  return region;
}

RegionName Memory::name_of(const Named& named) const {
  RegionName name;
  name.address = facts_.names_addresses ? reinterpret_cast<std::uint64_t>(named.memory.data()) : 0;
  name.key = fi_mr_key(named.region.get());
  if (!facts_.has_raw_keys) return name;
  std::array<std::uint8_t, kMostRawKeyBytes> key;
  std::size_t bytes = key.size();
  std::uint64_t address = 0;
  check_fabric(fi_mr_raw_attr(named.region.get(), &address, key.data(), &bytes, 0),
               "memory that peers are to name has no key");
  const auto raw = std::as_bytes(std::span(key).first(bytes));
  name.raw_key.assign(raw.begin(), raw.end());
  return name;
}

std::uint64_t Memory::map(const RegionName& theirs) {
  if (theirs.raw_key.empty()) return theirs.key;
  auto raw = theirs.raw_key;
  std::uint64_t key = 0;
  check_fabric(fi_mr_map_raw(endpoint_.domain(), theirs.address,
                             reinterpret_cast<std::uint8_t*>(raw.data()), raw.size(), &key, 0),
               "a peer's key cannot be mapped");
  return key;
}

std::unique_ptr<Registration> Memory::add(std::byte* memory, std::size_t bytes) {
  if (!facts_.needs_local_keys) return nullptr;
  Region region = make_region(memory, bytes, kByUs, false);
  const std::lock_guard lock(mutex_);
  known_[memory] = {bytes, fi_mr_desc(region.get())};
  return std::make_unique<Known>(*this, memory, std::move(region));
}

void* Memory::known_key(const std::byte* memory, std::size_t bytes) {
  for (const auto* const named : {&heap_, &pool_})
    if (*named && (*named)->holds(memory, bytes)) return fi_mr_desc((*named)->region.get());
  const std::lock_guard lock(mutex_);
  auto next = known_.upper_bound(memory);
  if (next == known_.begin()) return nullptr;
  const auto& [begin, region] = *--next;
  return memory + bytes <= begin + region.first ? region.second : nullptr;
}

void* Memory::local_key(const void* borrower, std::byte* memory, std::size_t bytes) {
  if (!facts_.needs_local_keys) return nullptr;
  if (void* const key = known_key(memory, bytes)) return key;
  Region& region = borrowed_[borrower];
  region = make_region(memory, bytes, kByUs, false);
  return fi_mr_desc(region.get());
}

}  // namespace chime::host::ofi
