// PEs whose device is a GPU with separate memory: the places of queues and tables, and that the
// host writes to none of them directly. ctest starts it, two at a time by chime-run, on a softnic.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "chime/abi/words.h"
#include "expect.hpp"
#include "gpu_apart.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/control.hpp"
#include "host/settings/env.hpp"
#include "host/transport/mlx5/transport.hpp"
#include "support/meet.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kHeapBytes = 1 << 20;

bootstrap::Deadline deadline() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

struct Pe {
  std::unique_ptr<bootstrap::Bootstrap> job = bootstrap::make_bootstrap();
  NicOptions options = read_settings().nic;
  GpuApart gpu;
  std::unique_ptr<DeviceMemory> heap = gpu.allocate_heap(kHeapBytes);
  Mlx5Transport nic;
  PeerTable peers{{job->rank(), job->size(), AmoChoice::kAuto}};

  explicit Pe(const GpuApart::Traits& traits)
      : gpu(traits), nic({job->rank(), job->size(), job->job_id()}, gpu, *heap, options) {
    std::printf("PE %d: %s\n", job->rank(), nic.describe().c_str());
    for (const Shortfall& shortfall : nic.shortfalls())
      std::printf("PE %d lacks: %s\n", job->rank(), shortfall.text.c_str());
    peers.add(nic);
    Connector(*job, gpu.allocate_host_visible(sizeof(ControlBlock)), peers, deadline())
        .connect(nic);
  }
  ~Pe() { bootstrap::test::meet(*job, deadline()); }

  // A copy of an object on the GPU.
  template <class T>
  std::vector<T> fetched(const T* at, std::size_t count) {
    std::vector<T> here(count);
    gpu.copy(here.data(), at, count * sizeof(T));
    return here;
  }
};

void is_on_the_gpu(Pe& pe, const abi::Channel& channel) {
  EXPECT(pe.gpu.holds(channel.head.ring) && pe.gpu.holds(channel.nic.cq.cqes));
  EXPECT(pe.gpu.holds(channel.nic.bell.record) && pe.gpu.holds(channel.nic.fetch));
  EXPECT(!pe.gpu.holds(channel.nic.bell.doorbell) && !pe.gpu.holds(channel.fault));
}

// Objects that kernels use lie on the GPU; those that the host uses or reads meanwhile do not.
void places(const ChannelTables& tables, Pe& pe) {
  Context kernels, host;
  tables.view(ContextOwner::kKernels, kernels);
  tables.view(ContextOwner::kHost, host);
  const abi::ChannelPool& pool = kernels.channels.pool;
  for (const void* at :
       {static_cast<const void*>(pool.channels), static_cast<const void*>(pool.touched),
        static_cast<const void*>(pool.watch), static_cast<const void*>(kernels.channels.route),
        static_cast<const void*>(kernels.nic.staging.busy),
        static_cast<const void*>(kernels.nic.staging.memory),
        static_cast<const void*>(kernels.nic.buffers)})
    EXPECT(pe.gpu.holds(at));
  for (const void* at :
       {static_cast<const void*>(host.channels.pool.channels),
        static_cast<const void*>(host.channels.route),
        static_cast<const void*>(host.nic.staging.busy),
        static_cast<const void*>(host.nic.staging.memory),
        static_cast<const void*>(tables.faults(ContextOwner::kKernels, 0, 1).data())})
    EXPECT(!pe.gpu.holds(at));
}

// As kernels find them.
void contents(const ChannelTables& tables, Pe& pe) {
  const abi::Channels& all = tables.channels(ContextOwner::kKernels);
  const auto n = static_cast<std::size_t>(pe.job->size());
  const auto routes = pe.fetched(all.route, n);
  const auto channels = pe.fetched(all.pool.channels, all.pool.count);
  for (std::size_t peer = 0; peer < n; ++peer) {
    EXPECT(abi::path_of_route(routes[peer]) == Path::kNic);
    const abi::Channels& host = tables.channels(ContextOwner::kHost);
    const abi::Channel& of_host = host.pool.channels[abi::first_of_route(host.route[peer])];
    for (unsigned slot = 0; slot < all.slots; ++slot) {
      const abi::Channel& channel = channels[abi::first_of_route(routes[peer]) + slot];
      EXPECT(channel.pe == static_cast<int>(peer) && channel.head.path == Path::kNic);
      EXPECT(std::memcmp(&channel.nic.peer, &of_host.nic.peer, sizeof of_host.nic.peer) == 0);
      EXPECT(channel.progress.done == abi::kFresh && channel.producer.resv == 0);
      EXPECT(channel.nic.cq.mode == abi::NicCqMode::kCollapsed);
      EXPECT(pe.fetched(channel.nic.cq.cqes, 64) == std::vector(64, std::byte{0xff}));
      EXPECT(pe.fetched(channel.nic.fetch, 1)[0].busy == 0);
      is_on_the_gpu(pe, channel);
    }
  }
}

void all_on_the_gpu() {
  Pe pe({});
  pe.gpu.wall_off();
  const ChannelNeeds needs = pe.nic.channel_needs();
  ChannelTables tables(pe.gpu, pe.job->size(), {&needs, 1});
  pe.nic.make_view(tables);
  tables.publish();
  places(tables, pe);
  contents(tables, pe);
}

int run(std::string_view act) {
  if (act == "all_on_the_gpu") return all_on_the_gpu(), 0;
  if (act == "writes_unordered") return Pe({.orders_writes = false}), 0;
  if (act == "registers_not_mapped") return Pe({.maps_registers = false}), 0;
  if (act == "nothing_of_it")
    return Pe({.orders_writes = false, .can_be_registered = false, .maps_registers = false}), 0;
  if (act == "cannot_be_registered") return Pe({.can_be_registered = false}), 0;
  return 2;
}

}  // namespace
}  // namespace chime::host

int main(int argc, char** argv) {
  try {
    return argc == 2 ? chime::host::run(argv[1]) : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
