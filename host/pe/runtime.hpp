// One PE: everything that chime_init makes. Members stand in construction order; destruction is the
// reverse.
//
// Built in two stages (setup/init.cpp, setup/device_stage.cpp). The first needs no device, so that
// a program may learn its PE number and then choose a GPU by it; the second is collective over the
// job and makes whatever kernels need, in chime_init where nothing is left to choose, else at the
// first call that needs it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/peer_watch.hpp"
#include "chime/abi/context.h"
#include "host/collective/rendezvous.hpp"
#include "host/errors/abort.hpp"
#include "host/errors/reported_once.hpp"
#include "host/gpu/gpu.hpp"
#include "host/memory/heap.hpp"
#include "host/memory/registered_buffers.hpp"
#include "host/memory/stream_rooms.hpp"
#include "host/memory/symmetric_buffers.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/control.hpp"
#include "host/peers/keepalive/keepalive.hpp"
#include "host/peers/on_demand.hpp"
#include "host/peers/peer_table.hpp"
#include "host/settings/env.hpp"
#include "host/teams/multicast.hpp"
#include "host/teams/team_table.hpp"
#include "host/transport/channels/tables.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// The result of chimex_get_async_error (host/report/async_error.hpp).
struct AsyncError {
  chimex_status status;
  int pe;
  std::string message;
};

// The second stage.
struct DeviceStage {
  std::unique_ptr<Gpu> gpu;
  // A ControlBlock, which local peers map, and behind it the bits of abi::Pe::dead.
  std::shared_ptr<DeviceMemory> control_memory;
  Heap heap;
  NodeMulticast multicast;  // of the node's heaps, where the user asks for it
  LocalPeers local_peers;
  std::unique_ptr<TeamTable> teams;
  std::mutex one_team_maker;              // at a time: what it proposes it may be given
  std::set<std::uint64_t> used_team_ids;  // under it
  // How often each team, by handle and number, has been asked to shrink. Under it.
  std::map<std::pair<chime_team_t, std::uint64_t>, int> shrinks;
  std::unique_ptr<ChannelTables> tables;
  std::unique_ptr<EndpointInfoFinder> fabric_endpoint_infos;  // of the fabric's peers
  Transports transports;  // those that settings and peers ask for
  PeerTable peers;
  SymmetricBuffers symmetric_buffers;  // gone after the registrations, before the heap
  RegisteredBuffers registered_buffers;
  std::unique_ptr<Rendezvous> rendezvous;
  std::vector<std::unique_ptr<OnDemand>> on_demand;  // of the transports that connect so
  std::optional<AsyncError> last_thrown;             // under Runtime::one_reader
  bool recorded_is_said = false;  // likewise: on stderr, though no call has thrown it
  // A part of the heap for operands of the host that requests cannot name
  // (host/ops/gpu/by_kernel.hpp). Under Runtime::one_kernel_call. Empty where the device is the
  // CPU.
  std::span<std::byte> bounce;
  std::unique_ptr<DeviceMemory> staged_bounce;  // in its place, once it is left to a request
  bool bounce_is_left = false;
  std::unique_ptr<StreamRooms> stream_rooms;  // likewise, of streams; null there

  // With no peers yet.
  DeviceStage(std::unique_ptr<Gpu> device, std::shared_ptr<DeviceMemory> control_page,
              Heap own_heap, PeerTable::Job job)
      : gpu(std::move(device)),
        control_memory(std::move(control_page)),
        heap(std::move(own_heap)),
        peers(job),
        registered_buffers(std::span(heap.base(), heap.bytes()), !gpu->is_cpu(), transports) {}

  ControlBlock& control() const {
    return *reinterpret_cast<ControlBlock*>(control_memory->address());
  }
  std::span<std::uint64_t> dead_bits() const {
    const auto n_pes = static_cast<std::size_t>(peers.n_pes());
    return {reinterpret_cast<std::uint64_t*>(&control() + 1), (n_pes + 63) / 64};
  }
  // Whether operations may be requests that a quiet waits for.
  bool posts() const {
    return std::ranges::any_of(transports, [](const auto& t) { return t->capabilities().posts; });
  }
};

struct PeSlot;

// An object that serves a PE while it exists, made by folders above this one.
struct Service {
  virtual ~Service() = default;
};

struct Runtime {
  Settings settings;
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;
  std::function<void(PeSlot&)>
      build_device;                     // the stage, once; throws why it cannot (setup/init.cpp)
  std::mutex one_builder;               // of the device stage: the first thread that needs it
  std::exception_ptr device_failure;    // why it could not be built; there is no second attempt
  std::unique_ptr<DeviceStage> device;  // of threads that know that it is built: see built_device
  std::mutex one_kernel_call;     // of the host of a GPU's PE at a time (ops/gpu/kernel_call.hpp)
  mutable std::mutex one_reader;  // of the PE's error record (host/report/async_error.cpp)
  ReportedOnce abort_reported;    // on stderr, by the PE to blame for the abort
  std::once_flag job_ended;       // by this PE (end.cpp)
  std::atomic<std::uint64_t> team_ids{0};        // made here (ops/teams/by_id.cpp)
  std::atomic<std::uint64_t> nvshmem_region{0};  // the open one's handle (setup/nvshmem_api.cpp)
  std::unique_ptr<Service> dump_on_signal;       // report/dump_on_signal.hpp
  std::unique_ptr<bootstrap::PeerWatch> watch;   // these last: their threads use all of the above
  std::unique_ptr<Keepalive> keepalive;
  std::unique_ptr<Service> pending_errors;  // report/pending_errors.hpp

  int my_pe() const { return bootstrap->rank(); }
  int n_pes() const { return bootstrap->size(); }
};

}  // namespace chime::host
