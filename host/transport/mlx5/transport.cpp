#include "host/transport/mlx5/transport.hpp"

#include <utility>

#include "host/transport/mlx5/view/faults.hpp"
#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host {
namespace {

class RegisteredBuffer final : public Registration {
 public:
  explicit RegisteredBuffer(mlx5::MemoryKey key) : key_(std::move(key)) {}
  std::uint32_t key() const override { return key_->lkey; }

 private:
  const mlx5::MemoryKey key_;
};

}  // namespace

Mlx5Transport::Mlx5Transport(const mlx5::NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                             const NicOptions& options, mlx5::DeviceWatch::Gone gone)
    : gpu_(gpu), heap_(heap), connections_(place, gpu, heap, options) {
  if (gone) watch_.emplace(connections_.context(), std::move(gone));
}

Capabilities Mlx5Transport::capabilities() const {
  return {.path = Path::kNic, .reach = Reach::kJob, .maps = false, .posts = true};
}

bool Mlx5Transport::agrees_with_first(std::span<const std::byte> bytes) {
  const mlx5::EndpointInfo endpoint_info = mlx5::read_endpoint_info(0, bytes);
  if (endpoint_info.why_none.empty()) connections_.check_fits(0, endpoint_info);
  return endpoint_info.why_none.empty();
}

ChannelNeeds Mlx5Transport::channel_needs() const {
  const NicOptions& options = connections_.options();
  return {.places = connections_.places(),
          .kernel_slots = mlx5::slots_of(ContextOwner::kKernels, options),
          .host_slots = mlx5::slots_of(ContextOwner::kHost, options),
          .opens_on_demand = connections_.opens_on_demand()};
}

void Mlx5Transport::make_view(ChannelTables& tables) {
  view_.emplace(connections_, gpu_, heap_, tables);
}

std::unique_ptr<Registration> Mlx5Transport::register_memory(std::byte* memory, std::size_t bytes) {
  return std::make_unique<RegisteredBuffer>(connections_.register_buffer(memory, bytes));
}

void Mlx5Transport::fail(int pe) {
  const std::optional<unsigned> place = connections_.place_of(pe);
  for (unsigned slot = 0; place && slot < connections_.slots(); ++slot)
    connections_.to_error(*place, slot);
}

std::string Mlx5Transport::end_given_up() {
  return mlx5::end_given_up_queues(*view_, connections_);
}

std::optional<std::string> Mlx5Transport::why_lost(int pe) const {
  const auto fault = mlx5::find_fault(*view_, pe);
  return fault ? std::optional(mlx5::describe(*fault)) : std::nullopt;
}

}  // namespace chime::host
