#include "host/transport/mlx5/transport.hpp"

#include <fmt/format.h>

#include "host/transport/mlx5/view/faults.hpp"

namespace chime::host {

Mlx5Transport::Mlx5Transport(const mlx5::NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                             const NicOptions& options)
    : gpu_(gpu), heap_(heap), connections_(place, gpu, heap, options) {}

Capabilities Mlx5Transport::capabilities() const {
  return {.path = Path::kNic, .reach = Reach::kJob, .maps = false, .posts = true};
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
  return buffers_->add(memory, bytes, connections_.register_buffer(memory, bytes));
}

void Mlx5Transport::fail(int pe) {
  for (unsigned slot = 0; slot < connections_.slots(); ++slot) connections_.to_error(pe, slot);
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
      return Scarcity{"staging slot",
                      fmt::format("there are {}, for memory here that is neither in the heap nor "
                                  "registered by chimex_buffer_register",
                                  staging.slots)};
  }
  return std::nullopt;
}

}  // namespace chime::host
