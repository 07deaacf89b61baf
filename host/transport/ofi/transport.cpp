#include "host/transport/ofi/transport.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "chime/abi/context.h"
#include "host/errors/error.hpp"
#include "net/secure/secret.hpp"

namespace chime::host {
namespace {

// The most requests, batches of messages and places for batches of messages that may end before the
// next look.
constexpr std::size_t kCompletions = 8 * ofi::Driver::kRoom;

std::uint64_t random_number() {
  std::uint64_t number;
  std::memcpy(&number, net::random_token().data(), sizeof number);
  return number;
}

std::string not_reached(int pe, const std::string& why) {
  return fmt::format("PE {} is not reached by the host: {}", pe, why);
}

std::span<std::byte> bytes_of(const DeviceMemory& memory) {
  return {memory.address(), memory.bytes()};
}

std::unique_ptr<DeviceMemory> make_pool(Gpu& gpu) {
  return gpu.is_cpu() ? nullptr : gpu.allocate_host_visible(ofi::SlotPool::bytes());
}

ofi::Memory::Shown shown(Gpu& gpu, bool bounces, const DeviceMemory& heap,
                         const DeviceMemory* pool) {
  return {.heap = bounces ? std::span<std::byte>() : bytes_of(heap),
          .is_gpu = !gpu.is_cpu(),
          .pool = pool ? bytes_of(*pool) : std::span<std::byte>()};
}

// Known by what it is registered with, each for itself.
class Registrations final : public Registration {
 public:
  Registrations(std::unique_ptr<Registration> one, std::unique_ptr<Registration> other)
      : one_(std::move(one)), other_(std::move(other)) {}

 private:
  std::unique_ptr<Registration> one_, other_;
};

}  // namespace

OfiTransport::OfiTransport(const ofi::PePlace& place, Gpu& gpu, const DeviceMemory& heap,
                           ofi::Provider provider, EndpointInfoFinder* endpoint_infos)
    : place_(place),
      heap_bytes_(heap.bytes()),
      provider_(std::move(provider)),
      pass_(random_number()),
      takes_puts_(gpu.is_cpu()),
      bounces_(!gpu.is_cpu() && !provider_.facts.reaches_gpus),
      endpoint_infos_(endpoint_infos),
      pool_(make_pool(gpu)),
      device_(pool_ ? std::make_unique<ofi::Driver::Device>([&gpu] { return gpu.make_queue(); },
                                                            bytes_of(*pool_), bytes_of(heap),
                                                            place.n_pes)
                    : nullptr),
      endpoint_(provider_, kCompletions),
      memory_(endpoint_, provider_.facts, shown(gpu, bounces_, heap, pool_.get())),
      wire_(endpoint_, memory_, provider_.facts, gpu.is_cpu() || bounces_),
      driver_({place.my_pe, place.n_pes, bytes_of(heap), pass_,
               std::chrono::nanoseconds(place.timeout_ns), gpu.is_cpu()},
              gpu, wire_, requests_, batches_, endpoint_infos ? this : nullptr, device_.get()) {}

std::unique_ptr<Registration> OfiTransport::register_memory(std::byte* memory, std::size_t bytes) {
  if (!device_) return memory_.add(memory, bytes);
  auto copied = device_->ranges.add({memory, bytes});
  if (bounces_) return copied;
  return std::make_unique<Registrations>(std::move(copied), memory_.add(memory, bytes));
}

Capabilities OfiTransport::capabilities() const {
  return {.path = Path::kProxy, .reach = Reach::kJob, .maps = false, .posts = true};
}

std::string OfiTransport::describe() const {
  return fmt::format(
      "{} {} of libfabric {} at {}; {}atomics {}", provider_.facts.name,
      ofi::version_text(provider_.facts.version), ofi::version_text(ofi::libfabric().fi_version()),
      endpoint_.address_text(),
      bounces_ ? "it does not know the GPU's memory, so data goes through the host's; " : "",
      provider_.facts.keeps_order ? "come behind puts by the provider's order"
                                  : "wait here for the puts before them");
}

ofi::EndpointInfo OfiTransport::endpoint_info() const {
  const ofi::RegionName heap = memory_.heap_name(), pool = memory_.pool_name();
  return {.why_none = {},
          .provider = provider_.facts.name,
          .provider_version = provider_.facts.version,
          .address_format = endpoint_.address_format(),
          .address = endpoint_.address(),
          .heap_bytes = heap_bytes_,
          .heap = heap.address,
          .key = heap.key,
          .raw_key = heap.raw_key,
          .pass = pass_,
          .takes_puts = takes_puts_,
          .bounces = bounces_,
          .has_pool = pool_ != nullptr,
          .pool = pool.address,
          .pool_key = pool.key,
          .pool_raw_key = pool.raw_key};
}

// Empty: libfabric, which is given no length, reads no more than there is.
std::string OfiTransport::why_malformed(std::span<const std::byte> address) const {
  if (endpoint_.address_format() == FI_ADDR_STR) {
    const bool ends = !address.empty() && address.back() == std::byte{0};
    return ends ? "" : "its address does not end; look whether both PEs have one libfabric";
  }
  const std::size_t bytes = endpoint_.address().size();
  if (address.size() == bytes) return "";
  return fmt::format(
      "its address has {} bytes and this PE's has {}; look whether both have one libfabric",
      address.size(), bytes);
}

// Empty: its endpoint info fits.
std::string OfiTransport::why_unfit(const ofi::EndpointInfo& theirs) const {
  if (!theirs.why_none.empty()) return "it has no fabric: " + theirs.why_none;
  if (theirs.provider != provider_.facts.name)
    return fmt::format(
        "it has libfabric's {} {} and this PE has {} {}; set CHIME_FABRIC to one that both have",
        theirs.provider, ofi::version_text(theirs.provider_version), provider_.facts.name,
        ofi::version_text(provider_.facts.version));
  if (theirs.address_format != endpoint_.address_format())
    return "its address is of another family than this PE's; set CHIME_IFACE to an interface that "
           "has one of the same family";
  if ((bounces_ || theirs.bounces) && !(pool_ && theirs.has_pool))
    return "one of the two has its heap on a GPU and the other one not; CHIME_DEVICE must be alike";
  return why_malformed(theirs.address);
}

// The name of a peer that has this endpoint info, or why there is no path to it. Throws Error where
// the two cannot be in one job.
ofi::Names::Found OfiTransport::name(int pe, std::span<const std::byte> endpoint_info) {
  const ofi::EndpointInfo theirs = ofi::read_endpoint_info(pe, endpoint_info);
  if (std::string why = why_unfit(theirs); !why.empty()) return {pe, {}, std::move(why)};
  if (theirs.heap_bytes != heap_bytes_)
    throw Error("symmetric heap", CHIMEX_ERR_MISMATCH,
                fmt::format("PE {} has {} bytes and PE {} has {}; set CHIME_SYMMETRIC_SIZE alike "
                            "on all PEs",
                            pe, theirs.heap_bytes - abi::kHeapReserved, place_.my_pe,
                            heap_bytes_ - abi::kHeapReserved));
  if (provider_.facts.name == "shm") leftovers_.add(theirs.address);
  const bool bounces = bounces_ || theirs.bounces;
  return {.pe = pe,
          .name = ofi::PeerName{
              .address = endpoint_.insert(theirs.address),
              .heap = theirs.heap,
              .key = memory_.map({theirs.heap, theirs.key, theirs.raw_key}),
              .pass = theirs.pass,
              .takes_puts = theirs.takes_puts,
              .bounces = bounces,
              .pool = theirs.pool,
              .pool_key = memory_.map({theirs.pool, theirs.pool_key, theirs.pool_raw_key})}};
}

Acceptance OfiTransport::accept(int pe, const PeerEndpointInfo& shown) {
  if (pe == place_.my_pe) return {.is_accepted = true};
  const ofi::Names::Found found = name(pe, shown.bytes);
  if (found.name)
    driver_.add_peer(pe, *found.name);
  else
    refused_[pe] = found.why_none;
  return {.is_accepted = found.name.has_value()};
}

std::vector<ofi::Names::Found> OfiTransport::take_found() {
  std::vector<ofi::Names::Found> all;
  for (const EndpointInfoFinder::Found& found : endpoint_infos_->take()) {
    ofi::Names::Found named{found.pe, {}, found.why_none};
    try {
      if (found.why_none.empty()) named = name(found.pe, found.endpoint_info);
    } catch (const Error& error) {
      named.why_none = error.what();
    }
    if (!named.name) named.why_none = not_reached(named.pe, named.why_none);
    all.push_back(std::move(named));
  }
  return all;
}

bool OfiTransport::agrees_with_first(std::span<const std::byte> bytes) {
  const ofi::EndpointInfo first = ofi::read_endpoint_info(0, bytes);
  if (!first.why_none.empty())
    why_unused_ = "the job goes by none, as PE 0 has none: " + first.why_none;
  return is_used();
}

std::string OfiTransport::why_not(int pe) const {
  if (!is_used()) return not_reached(pe, why_unused_);
  const auto found = refused_.find(pe);
  return not_reached(pe, found == refused_.end() ? "it has refused this PE" : found->second);
}

}  // namespace chime::host
