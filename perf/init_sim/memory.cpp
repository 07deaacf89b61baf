#include "memory.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <thread>

#include "heap_use.hpp"
#include "host/gpu/pieces.hpp"
#include "host/options/proxy.hpp"
#include "host/peers/peer_table.hpp"
#include "host/transport/channels/buffer_tables.hpp"
#include "host/transport/channels/layout.hpp"
#include "host/transport/mlx5/endpoint_info.hpp"
#include "host/transport/mlx5/queues/mlx5_devx.hpp"
#include "host/transport/mlx5/queues/mlx5_qp.hpp"
#include "host/transport/mlx5/view/layout.hpp"
#include "host/transport/ofi/requests/peer_links.hpp"
#include "net/mesh/mesh.hpp"
#include "proxy/layout.hpp"

namespace chime::perf {
namespace {

using host::ContextOwner;
using host::Pieces;

std::size_t count(int n) { return static_cast<std::size_t>(n); }

// The node's PEs are mapped, the NIC leads to its own peers. The others are unknown until their
// first touch.
double peer_table(const MemoryShape& shape) {
  return static_cast<double>(heap_use_of([&] {
    auto table = std::make_unique<host::PeerTable>(
        host::PeerTable::Job{0, shape.n_pes, host::AmoChoice::kAuto});
    const auto use = [&](int pe, Path path) {
      table->ask(pe, path);
      table->connect(pe, path);
      table->use(pe, path, nullptr);
    };
    for (int pe = 0; pe < std::min(shape.node_pes, shape.n_pes); ++pe) use(pe, Path::kP2p);
    for (int pe = 0; pe < (shape.is_lazy ? 1 : shape.n_pes); ++pe) use(pe, Path::kNic);
    return table;
  }));
}

net::Mesh::Options mesh_of(int pe, int n_pes) {
  static int number = 0;
  const auto name =
      "chime-init-sim-" + net::to_hex(net::random_token()).substr(0, 16) + std::to_string(number++);
  return {.secret = net::Bytes(32),
          .job = "init_sim",
          .pe = pe,
          .n_pes = n_pes,
          .listen_at = {net::Address::abstract(name)}};
}

double idle_mesh(int n_pes) {
  return static_cast<double>(heap_use_of([&] {
    return std::make_unique<net::Mesh>(
        mesh_of(0, n_pes), [](int) {}, [](int, const std::string&) {});
  }));
}

// The memory for a peer with messages in both directions: two meshes that greet each other, and
// half of what both keep. The kernel's buffers count separately.
double peer_of_mesh() {
  const net::Bytes hello(16);
  net::Bytes endpoint_info_of_other;
  std::unique_ptr<net::Mesh> one, other;
  std::atomic<bool> is_greeted = false;
  one = std::make_unique<net::Mesh>(
      mesh_of(0, 2), [&](int pe) { one->found(pe, endpoint_info_of_other); },
      [](int, const std::string&) {});
  other = std::make_unique<net::Mesh>(
      mesh_of(1, 2), [](int) {}, [](int, const std::string&) {});
  endpoint_info_of_other = other->endpoint_info();
  one->handle(net::Mesh::kFirstTag, [&](int, std::span<const std::byte>) { is_greeted = true; });
  other->handle(net::Mesh::kFirstTag, [&](int from, std::span<const std::byte> message) {
    other->send(from, net::Mesh::kFirstTag, message);
  });
  std::thread of_one([&] { one->run(); }), of_other([&] { other->run(); });
  const std::size_t before = heap_use();
  one->send(1, net::Mesh::kFirstTag, hello);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_greeted && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // dials go
  const double kept = static_cast<double>(heap_use() - before) / 2;
  one->stop();
  other->stop();
  of_one.join();
  of_other.join();
  return is_greeted ? kept : 0;
}

// The addresses of each PE's heap: for the host, and for kernels.
double heap_tables(int n_pes) { return 2.0 * static_cast<double>(n_pes) * sizeof(std::byte*); }

// Channels of the NIC's QP sets and of the proxy, and the words that name the channel of every PE.
double channel_tables(const MemoryShape& shape) {
  const host::NicOptions options;
  const host::ChannelCounts counts = {.pes = count(shape.n_pes),
                                      .places = count(shape.nic_peers + 1),
                                      .kernel_slots = options.slots,
                                      .host_slots = host::mlx5::kHostQueuePairs};
  const auto state = [&](ContextOwner owner) {
    return host::counted([&](Pieces& pieces) { host::take_state(pieces, counts, owner); });
  };
  const std::size_t shared = host::counted([&](Pieces& pieces) {
    host::take_shared(pieces, counts);
    host::take_buffers(pieces);
  });
  return static_cast<double>(state(ContextOwner::kKernels) + state(ContextOwner::kHost) + shared +
                             count(shape.nic_peers) * sizeof(host::mlx5::EndpointInfo));
}

// Staging is allocated at its first touch.
double fifos(int n_pes) {
  const ProxyOptions options;
  const auto take_busy = [&](Pieces& pieces) {
    proxy::take_busy(pieces, options.fifos, options.depth);
  };
  const auto rest = host::counted([&](Pieces& pieces) {
    proxy::HostPieces(pieces, count(n_pes), options.fifos, 1, options.depth);
  });
  return static_cast<double>(host::counted(take_busy) + rest);
}

// For the touched peers; none on a PE that reaches all peers by a NIC.
double fabric_peer_links(const MemoryShape& shape) {
  if (!shape.is_lazy) return 0;
  return static_cast<double>(heap_use_of([&] {
    auto peer_links = std::make_unique<host::ofi::PeerLinks>(shape.n_pes);
    for (int pe = 0; pe < std::min(shape.peers, shape.n_pes); ++pe) peer_links->add(pe);
    return peer_links;
  }));
}

}  // namespace

std::vector<MemoryPart> memory_of_pe(const MemoryShape& shape) {
  static const double of_a_peer = peer_of_mesh();
  const int channels = shape.is_lazy ? 2 : 1;
  return {{"peer table", peer_table(shape)},
          {"where heaps are mapped", heap_tables(shape.n_pes)},
          {"side channels", channels * idle_mesh(shape.n_pes)},
          {"their connections", channels * shape.peers * of_a_peer},
          {"channels and routes", channel_tables(shape)},
          {"the proxy's FIFOs", fifos(shape.n_pes)},
          {"the fabric's links", fabric_peer_links(shape)}};
}

double nic_queue_bytes(const MemoryShape& shape) {
  const host::NicOptions options;
  const auto scratch = host::mlx5::scratch_bytes(shape.nic_peers, options);
  const std::size_t each =
      options.slots * host::mlx5::devx_bytes(options.queue_depth) +
      host::mlx5::kHostQueuePairs * host::mlx5::verbs_bytes(options.queue_depth);
  return static_cast<double>(count(shape.nic_peers) * each + scratch.kernels + scratch.host);
}

double sum(const std::vector<MemoryPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double all, const MemoryPart& part) { return all + part.bytes; });
}

}  // namespace chime::perf
