#include "host/transport/channels/tables.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"

namespace chime::host {
namespace {

constexpr ContextOwner kOwners[] = {ContextOwner::kKernels, ContextOwner::kHost};

ChannelCounts count(int n_pes, std::span<const ChannelNeeds> needs) {
  ChannelCounts counts{
      .pes = static_cast<std::size_t>(n_pes), .places = 0, .kernel_slots = 1, .host_slots = 1};
  for (const ChannelNeeds& need : needs) {
    if (counts.places == 0 && need.places != 0) {
      counts.kernel_slots = need.kernel_slots;
      counts.host_slots = need.host_slots;
    }
    counts.places += need.places;
  }
  return counts;
}

bool is_on_demand(std::span<const ChannelNeeds> needs) {
  return std::ranges::any_of(needs, [](const ChannelNeeds& need) { return need.opens_on_demand; });
}

}  // namespace

ChannelTables::ChannelTables(Gpu& gpu, int n_pes, std::span<const ChannelNeeds> needs)
    : gpu_(gpu), counts_(count(n_pes, needs)), opens_on_demand_(is_on_demand(needs)) {
  if (counts_.places == 0) return;
  const auto take_host = [&](Pieces& pieces) {
    const SharedPieces shared = take_shared(pieces, counts_);
    return std::pair(shared, take_state(pieces, counts_, ContextOwner::kHost));
  };
  device_memory_ = gpu.allocate_device(
      counted([&](Pieces& pieces) { take_state(pieces, counts_, ContextOwner::kKernels); }));
  host_memory_ = gpu.allocate_host_visible(counted(take_host));
  Pieces here(host_memory_->address(), host_memory_->address());
  const auto taken = take_host(here);
  const SharedPieces& shared = taken.first;
  image_.emplace(*device_memory_);
  Pieces there = image_->pieces();
  kernels_.state = take_state(there, counts_, ContextOwner::kKernels);
  host_.state = taken.second;
  kernels_.faults = {shared.faults_of_kernels.here, counts_.places * counts_.kernel_slots};
  host_.faults = {shared.faults_of_host.here, counts_.places * counts_.host_slots};

  buffers_memory_ = gpu.allocate_device(counted(take_buffers));
  Pieces of_buffers(nullptr, buffers_memory_->address());
  const BufferPieces buffers = take_buffers(of_buffers);
  buffers_.emplace(make_buffer_tables(gpu, buffers));
  kernels_.memory.buffers = host_.memory.buffers = buffers.all.there;
  const auto asks = [&](const SharedPieces::Asked& by) {
    return OpeningRequests::Asks{by.count.here, std::span(by.wanted.here, counts_.wanted_words())};
  };
  if (opens_on_demand_)
    opening_requests_.emplace(asks(shared.by_kernels), asks(shared.by_host),
                              std::span(shared.answers.here, counts_.pes),
                              std::span(shared.peers.here, counts_.places));
  describe(ContextOwner::kKernels, shared, shared.by_kernels);
  describe(ContextOwner::kHost, shared, shared.by_host);
  host_.channels.kernels = &kernels_.channels;
  for (const ContextOwner owner : kOwners) prepare_channels(owner);
}

void ChannelTables::describe(ContextOwner owner, const SharedPieces& shared,
                             const SharedPieces::Asked& asked) {
  Part& part = of(owner);
  const StatePieces& state = part.state;
  abi::Channels& all = part.channels;
  all.pool.channels = state.channels.there;
  all.pool.touched = state.touched.there;
  all.pool.watch = state.watch.there;
  all.pool.count = all.count = static_cast<std::uint32_t>(counts_.channels(owner));
  all.route = state.route.there;
  all.slots = counts_.slots(owner);
  const bool is_kernels = owner == ContextOwner::kKernels;
  all.other_faults = (is_kernels ? shared.faults_of_host : shared.faults_of_kernels).there;
  all.other_slots = counts_.slots(is_kernels ? ContextOwner::kHost : ContextOwner::kKernels);
  all.id = context_id(owner);
  if (!opens_on_demand_) return;
  all.opened = state.opened.there;
  all.openings = state.openings.there;
  *state.openings.here = {asked.count.there, asked.wanted.there, shared.answers.there,
                          shared.peers.there, state.claims.there};
}

void ChannelTables::prepare_channels(ContextOwner owner) {
  const Part& part = of(owner);
  for (std::size_t i = 0; i < part.faults.size(); ++i) {
    abi::Channel& channel = part.state.channels.here[i];
    channel = {};
    channel.pe = -1;
    channel.fault = &part.faults[i];
    channel.watch = part.state.watch.there;
    channel.index = static_cast<std::uint32_t>(i);
    channel.context = context_id(owner);
    channel.progress.done = abi::kFresh;
  }
}

unsigned ChannelTables::take_places(unsigned count) {
  return std::exchange(taken_, taken_ + count);
}

abi::Channel& ChannelTables::channel(ContextOwner owner, unsigned place, unsigned slot) {
  return of(owner).state.channels.here[std::size_t{place} * slots(owner) + slot];
}

void ChannelTables::lead(int pe, Path path, unsigned place) {
  for (const ContextOwner owner : kOwners) {
    std::uint32_t& word = of(owner).state.route.here[pe];
    if (word == 0) word = abi::route_word(path, place * slots(owner));
  }
}

void ChannelTables::lead_others(Path path, unsigned place, std::function<bool(int pe)> leads_to) {
  if (opening_requests_) return opening_requests_->send_refused(path, place, std::move(leads_to));
  for (int pe = 0; pe < static_cast<int>(counts_.pes); ++pe)
    if (leads_to(pe)) lead(pe, path, place);
}

void ChannelTables::set_memory(const Memory& memory) {
  for (const ContextOwner owner : kOwners) {
    Part& part = of(owner);
    abi::NicStaging& staging = part.memory.staging;
    part.memory.heap = memory.heap;
    staging.memory = memory.staging[context_id(owner)];
    staging.nic = reinterpret_cast<std::uint64_t>(staging.memory);  // alike in requests
    staging.busy = part.state.staging_busy.there;
    staging.lkey_be = abi::be32(memory.staging_key[context_id(owner)]);
    staging.slots = kStagingSlots;
    staging.slot_bytes = kStagingSlotBytes;
  }
}

void ChannelTables::publish() {
  if (image_) image_->copy_to_device(gpu_);
  image_.reset();
}

void ChannelTables::view(ContextOwner owner, Context& context) const {
  context.channels = of(owner).channels;
  context.nic = of(owner).memory;
}

std::span<abi::ChannelFault> ChannelTables::faults(ContextOwner owner, unsigned place,
                                                   unsigned places) const {
  const std::size_t each = slots(owner);
  return of(owner).faults.subspan(place * each, places * each);
}

// Kernels and host operations wait for slots of their own.
std::optional<Scarcity> ChannelTables::awaited_at(std::uint64_t address) const {
  for (const ContextOwner owner : kOwners) {
    const abi::NicStaging& staging = memory(owner).staging;
    if (staging.busy != nullptr && reinterpret_cast<std::uint64_t>(staging.busy) == address)
      return Scarcity{"no staging slot came free",
                      "there are " + std::to_string(staging.slots) +
                          ", of which operations on one PE take half, for memory here that is "
                          "neither in the heap nor registered",
                      "chimex_buffer_register"};
  }
  if (const auto pe = opening_requests_ ? opening_requests_->answered_at(address) : std::nullopt)
    return Scarcity{"no path to PE " + std::to_string(*pe) + " was opened",
                    "its host has not answered; with CHIME_CONNECT=eager it would have been "
                    "connected at init"};
  return std::nullopt;
}

}  // namespace chime::host
