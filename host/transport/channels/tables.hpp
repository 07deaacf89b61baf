// The channels of a PE as device code sees them (chime/abi/channel.h, chime/abi/nic_memory.h): one
// pool, one table of routes and one idea of memory for each context, whatever transports lead to
// its peers.
//
// Each transport that posts takes places here and fills their channels: of queue pairs to one peer,
// or of FIFOs to all peers of a path. Memory that kernels alone use while they run lies on the
// device, and is written there by a copy, once; so are registered buffers, by a copy for each
// change. Other memory that the host reads or writes meanwhile, and all that host operations use,
// is the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/nic_memory.h"
#include "host/gpu/gpu.hpp"
#include "host/transport/channels/buffer_tables.hpp"
#include "host/transport/channels/known_buffers.hpp"
#include "host/transport/channels/layout.hpp"
#include "host/transport/channels/opening_requests.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

class ChannelTables {
 public:
  // With room for all that `needs` asks for, and as many channels of a place as the first of them
  // that asks for places has. `gpu` outlives it.
  ChannelTables(Gpu& gpu, int n_pes, std::span<const ChannelNeeds> needs);
  ChannelTables(const ChannelTables&) = delete;  // the host's part points to that of kernels

  // ---- For transports, before publish().

  // The first of `count` places that follow each other. REQUIRES: it has asked for them.
  unsigned take_places(unsigned count);
  unsigned slots(ContextOwner owner) const { return counts_.slots(owner); }
  // The common part of all channels: its index, where it records failures. It leads to no PE, by no
  // path.
  abi::Channel& channel(ContextOwner owner, unsigned place, unsigned slot);
  // A transport's own channels at `place` lead to `pe` from the beginning, for both contexts.
  // Nothing where another does: the transport that was opened first is preferred.
  void lead(int pe, Path path, unsigned place);
  // The channels at `place` lead to PEs for which `leads_to` is true and to which nothing else
  // leads. Where peers are opened on demand, they are for refused peers; else it is as lead() for
  // each.
  void lead_others(Path path, unsigned place, std::function<bool(int pe)> leads_to);

  // How requests name memory of this PE. REQUIRES, of the setter: nobody has said it.
  struct Memory {
    abi::NicBuffer heap;
    std::byte* staging[2];  // of kernels, of the host: kStagingBytes each
    std::uint32_t staging_key[2];
  };
  bool knows_memory() const { return kernels_.memory.staging.memory != nullptr; }
  void set_memory(const Memory& memory);

  // Kernels find what was filled.
  void publish();

  // ---- From then on.

  void view(ContextOwner owner, Context& context) const;
  const abi::Channels& channels(ContextOwner owner) const { return of(owner).channels; }
  const abi::NicMemory& memory(ContextOwner owner) const { return of(owner).memory; }
  // Failures of the channels of some places: [place][slot].
  std::span<abi::ChannelFault> faults(ContextOwner owner, unsigned place, unsigned places) const;
  // The program's memory that requests may name. Null: there are no channels.
  KnownBuffers* buffers() { return buffers_ ? &*buffers_ : nullptr; }
  // Null: no path is opened on demand.
  OpeningRequests* opening_requests() { return opening_requests_ ? &*opening_requests_ : nullptr; }
  // The missing resource, if a wait at this address was for a staging slot or an answer.
  std::optional<Scarcity> awaited_at(std::uint64_t address) const;

 private:
  struct Part {
    StatePieces state = {};
    std::span<abi::ChannelFault> faults = {};
    abi::Channels channels = {};
    abi::NicMemory memory = {};
  };
  const Part& of(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? kernels_ : host_;
  }
  Part& of(ContextOwner owner) { return owner == ContextOwner::kKernels ? kernels_ : host_; }
  void describe(ContextOwner owner, const SharedPieces& shared, const SharedPieces::Asked& asked);
  void prepare_channels(ContextOwner owner);

  Gpu& gpu_;
  const ChannelCounts counts_;
  const bool opens_on_demand_;
  unsigned taken_ = 0;  // places
  std::unique_ptr<DeviceMemory> device_memory_, host_memory_, buffers_memory_;
  std::optional<DeviceImage> image_;  // until it is published
  Part kernels_, host_;
  std::optional<KnownBuffers> buffers_;
  std::optional<OpeningRequests> opening_requests_;
};

}  // namespace chime::host
