#include "host/transport/mlx5/transport.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/transport/mlx5/view/faults.hpp"

namespace chime::host {
namespace {

struct RegisteredBuffer final : Registration {
  explicit RegisteredBuffer(mlx5::MemoryKey its_key) : key(std::move(its_key)) {}
  const mlx5::MemoryKey key;
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
  const mlx5::Card card = mlx5::read_card(0, bytes);
  if (card.why_none.empty()) connections_.check_fits(0, card);
  return card.why_none.empty();
}

void Mlx5Transport::make_view() {
  view_.emplace(connections_, gpu_, heap_);
  buffers_.emplace(view_->buffers());
}

void Mlx5Transport::view(ContextOwner owner, Context& context) const {
  const mlx5::NicView& mine = view_->of(owner);
  context.channels = mine.channels;
  context.nic = mine.memory;
}

std::unique_ptr<Registration> Mlx5Transport::register_memory(std::byte* memory, std::size_t bytes) {
  auto registered = std::make_unique<RegisteredBuffer>(connections_.register_buffer(memory, bytes));
  const std::uint32_t key = registered->key->lkey;
  return buffers_->add(memory, bytes, key, std::move(registered));
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

// Kernels and host operations wait for slots of their own.
std::optional<Scarcity> Mlx5Transport::awaited_at(std::uint64_t address) const {
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost}) {
    const abi::NicStaging& staging = view_->of(owner).memory.staging;
    if (reinterpret_cast<std::uint64_t>(staging.busy) == address)
      return Scarcity{"no staging slot came free",
                      fmt::format("there are {}, for memory here that is neither in the heap nor "
                                  "registered by chimex_buffer_register",
                                  staging.slots)};
  }
  if (const auto pe = view_->opening_at(address))
    return Scarcity{fmt::format("no way to PE {} was opened", *pe),
                    "its host has not answered; with CHIME_CONNECT=eager it would have "
                    "been connected at init"};
  return std::nullopt;
}

}  // namespace chime::host
