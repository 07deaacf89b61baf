// A PE that opens the NIC as chime_init does, and drives its queue pairs by hand. Started under a
// softnic by ctest, several at a time by chime-run; the variables choose device and backend.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "chime/chime.h"
#include "chime/device/simt/memory/memory_kind.hpp"
#include "expect.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/gpu/factory.hpp"
#include "host/pe/pe.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/control.hpp"
#include "host/settings/env.hpp"
#include "host/transport/mlx5/transport.hpp"
#include "requester.hpp"
#include "support/meet.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::size_t kHeapBytes = 4 << 20;

bootstrap::Deadline deadline(std::chrono::seconds limit = std::chrono::seconds(60)) {
  return std::chrono::steady_clock::now() + limit;
}

// The heap of a PE: the data that it sends, the data that it receives, a word to add to.
struct HeapLayout {
  std::uint64_t source[1024];
  std::uint64_t target[1024];
  std::uint64_t counter;
};

struct Pe {
  std::unique_ptr<bootstrap::Bootstrap> job = bootstrap::make_bootstrap();
  std::unique_ptr<Gpu> gpu = open_simt_gpu();
  std::unique_ptr<DeviceMemory> memory = gpu->allocate_heap(kHeapBytes);
  Mlx5Transport transport;
  PeerTable peers{{job->rank(), job->size(), AmoChoice::kAuto}};
  Connections& nic = transport.connections();

  explicit Pe(const NicOptions& options)
      : transport({job->rank(), job->size(), job->job_id()}, *gpu, *memory, options) {
    peers.add(transport);
    Connector(*job, gpu->allocate_host_visible(sizeof(ControlBlock)), peers, deadline())
        .connect(transport);
  }

  int me() const { return job->rank(); }
  int n() const { return job->size(); }
  HeapLayout& heap() const { return *reinterpret_cast<HeapLayout*>(memory->address()); }

  // Symmetric addresses in requests.
  std::uint64_t offset(const void* at) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - memory->address());
  }
  Remote data_at(int pe, const void* symmetric) const {
    return {nic.endpoint_info_of(pe).heap + offset(symmetric), nic.endpoint_info_of(pe).key};
  }
  Remote word_at(int pe, const void* symmetric) const {
    return {nic.endpoint_info_of(pe).heap + offset(symmetric), nic.endpoint_info_of(pe).strict_key};
  }
  Local here(const void* symmetric) const {
    return {nic.endpoint_info_of(me()).heap + offset(symmetric), nic.endpoint_info_of(me()).key};
  }
  Local scratch(std::size_t at) const {
    const Scratch scratch = nic.scratch(ContextOwner::kHost);
    return {reinterpret_cast<std::uint64_t>(scratch.memory + at), scratch.key};
  }
};

std::uint64_t value_of(int pe, std::size_t i) {
  return 0x1000000ull * static_cast<std::uint64_t>(pe + 1) + i;
}

void fill(Pe& pe) {
  for (std::size_t i = 0; i < 1024; ++i) pe.heap().source[i] = value_of(pe.me(), i);
}

// Writes to, reads from and adds at `peer` through `slot`, and checks the results.
void exchange(Pe& pe, int peer, unsigned slot) {
  Requester queue(pe.nic.queue_pair(peer, slot).view());
  HeapLayout& heap = pe.heap();
  // Each sender's slot writes its own part of the target.
  constexpr std::size_t kPart = 128;
  const std::size_t first =
      kPart * ((static_cast<std::size_t>(pe.me()) * pe.nic.slots() + slot) % 8);
  std::uint16_t index = queue.transfer(Requester::kWrite, pe.data_at(peer, &heap.target[first]),
                                       pe.here(&heap.source[first]), kPart * 8, true);
  queue.ring();
  EXPECT(queue.wait(index).opcode == 0);

  index = queue.transfer(Requester::kRead, pe.data_at(peer, &heap.target[first]), pe.scratch(1024),
                         kPart * 8, true);
  queue.ring();
  EXPECT(queue.wait(index).opcode == 0);
  const std::byte* const scratch = pe.nic.scratch(ContextOwner::kHost).memory;
  const auto* read = reinterpret_cast<const std::uint64_t*>(scratch + 1024);
  for (std::size_t i = 0; i < kPart; ++i) EXPECT(read[i] == value_of(pe.me(), first + i));

  index = queue.fetch_add(pe.word_at(peer, &heap.counter), pe.scratch(0), 3);
  queue.ring();
  EXPECT(queue.wait(index).opcode == 0);
  EXPECT(*reinterpret_cast<const std::uint64_t*>(scratch) % 3 == 0);
}

// Every PE writes to every PE, also to itself, through every slot.
void transfers(const NicOptions& options) {
  Pe pe(options);
  std::printf("PE %d: %s\n", pe.me(), pe.nic.describe().c_str());
  fill(pe);
  for (int peer = 0; peer < pe.n(); ++peer) {
    EXPECT(pe.peers.path(peer) == Path::kNic);
    for (unsigned slot = 0; slot < pe.nic.slots(); ++slot) exchange(pe, peer, slot);
  }
  bootstrap::test::meet(*pe.job, deadline());
  EXPECT(pe.heap().counter ==
         3ull * static_cast<std::uint64_t>(pe.n()) * static_cast<std::uint64_t>(pe.nic.slots()));
  bootstrap::test::meet(*pe.job, deadline());
}

// Thrice around the send queue and past 2^16, in batches with one completion and one doorbell.
void wraps(const NicOptions& options) {
  Pe pe(options);
  fill(pe);
  const int peer = (pe.me() + 1) % pe.n();
  Requester queue(pe.nic.queue_pair(peer, 0).view());
  HeapLayout& heap = pe.heap();
  const unsigned batch = 1u << (pe.nic.queue_pair(peer, 0).view().log2_blocks - 1);
  const unsigned rounds = (std::getenv("CHIME_TEST_PAST_64K") ? 70000u : 3 * 2 * batch) / batch;
  for (unsigned round = 0; round < rounds; ++round) {
    std::uint16_t last = 0;
    for (unsigned i = 0; i < batch; ++i)
      last = queue.transfer(Requester::kWrite, pe.data_at(peer, &heap.target[i % 1024]),
                            pe.here(&heap.source[(i + round) % 1024]), 8, i + 1 == batch);
    queue.ring();
    const Completion completion = queue.wait(last);
    EXPECT(completion.opcode == 0 && completion.counter == last);
  }
  bootstrap::test::meet(*pe.job, deadline());
  const int from = (pe.me() + pe.n() - 1) % pe.n();
  const std::size_t i = (batch - 1) % 1024;
  EXPECT(heap.target[i] == value_of(from, (batch - 1 + rounds - 1) % 1024));
  bootstrap::test::meet(*pe.job, deadline());
}

// A request with an invalid key fails with its name; the other slot goes on.
void is_refused(const NicOptions& options) {
  Pe pe(options);
  fill(pe);
  const int peer = (pe.me() + 1) % pe.n();
  HeapLayout& heap = pe.heap();
  if (pe.me() == 0) {
    Requester queue(pe.nic.queue_pair(peer, 0).view());
    const std::uint16_t index =
        queue.transfer(Requester::kWrite, {0, 0xdead00}, pe.here(&heap.source[0]), 64, true);
    queue.ring();
    const Completion completion = queue.wait(index);
    constexpr unsigned kRemoteAccess = 0x13;
    EXPECT(completion.opcode == 13 && completion.syndrome == kRemoteAccess);
    exchange(pe, peer, 1);
  }
  bootstrap::test::meet(*pe.job, deadline());
}

// A request posted to a queue pair that has ended.
bool is_flushed_when_posted(Pe& pe, int peer, unsigned slot) {
  Requester queue(pe.nic.queue_pair(peer, slot).view());
  HeapLayout& heap = pe.heap();
  const std::uint16_t index = queue.transfer(Requester::kWrite, pe.data_at(peer, &heap.target[0]),
                                             pe.here(&heap.source[0]), 64, true);
  queue.ring();
  const Completion completion = queue.wait(index);
  constexpr unsigned kFlushed = 0x05;
  return completion.opcode == 13 && completion.syndrome == kFlushed;
}

// A queue pair that was given up flushes later requests; other queue pairs go on.
void gives_up(const NicOptions& options) {
  Pe pe(options);
  fill(pe);
  const int peer = (pe.me() + 1) % pe.n();
  pe.nic.to_error(peer, 0);
  EXPECT(is_flushed_when_posted(pe, peer, 0));
  exchange(pe, peer, 1);
  bootstrap::test::meet(*pe.job, deadline());
}

// All queues to a failed peer end, those to others do not. A second call changes nothing.
void fails_a_peer(const NicOptions& options) {
  Pe pe(options);
  fill(pe);
  const int peer = (pe.me() + 1) % pe.n();
  for (int twice = 0; twice < 2; ++twice) pe.transport.fail(peer);
  for (unsigned slot = 0; slot < pe.nic.slots(); ++slot)
    EXPECT(is_flushed_when_posted(pe, peer, slot));
  for (unsigned slot = 0; slot < pe.nic.slots(); ++slot) exchange(pe, pe.me(), slot);
  bootstrap::test::meet(*pe.job, deadline());
}

abi::Channel& first_channel(const abi::Channels& all, int pe) {
  return all.pool.channels[abi::first_of_route(all.route[pe])];
}

// A request made of the format's own segments and posted through the table, as kernels do it.
struct TablePoster {
  const abi::NicMemory& memory;
  abi::Channel& queue;

  void write(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
    auto* wqe = reinterpret_cast<abi::WqeSegment*>(queue.head.ring);
    wqe[1] = abi::remote_segment(queue.nic.peer.heap + to, queue.nic.peer.rkey_be);
    wqe[2] = abi::data_segment(bytes, memory.heap.lkey_be, memory.heap.nic + from);
    wqe[0] =
        abi::control_segment({abi::WqeOpcode::kWrite, 3, abi::kCqeAlways}, 0, queue.head.number_be);
    std::atomic_thread_fence(std::memory_order_release);
    std::atomic_ref(*queue.nic.bell.record)
        .store(abi::doorbell_record(1), std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_ref(*queue.nic.bell.doorbell)
        .store(abi::doorbell_value(1, queue.head.number_be), std::memory_order_release);
  }

  abi::CqeTail wait() const {
    auto& word = *reinterpret_cast<std::uint32_t*>(queue.nic.cq.cqes + abi::kCqeTailWord);
    for (const auto end = deadline();;) {
      const auto tail = abi::cqe_tail(std::atomic_ref(word).load(std::memory_order_acquire));
      if (tail.opcode != abi::CqeOpcode::kInvalid) return tail;
      EXPECT(std::chrono::steady_clock::now() < end);
      std::this_thread::yield();
    }
  }
};

using Kind = simt::MemoryKind;
Kind lies_on(const void* at) { return simt::kind_of_memory(at); }

std::unique_ptr<ChannelTables> make_tables(Pe& pe) {
  const ChannelNeeds needs = pe.transport.channel_needs();
  auto tables = std::make_unique<ChannelTables>(*pe.gpu, pe.n(), std::span(&needs, 1));
  pe.transport.make_view(*tables);
  tables->publish();
  return tables;
}

// The table has the same queues, peers and memory as the transport, and lies where it is used.
void has_a_table(const NicOptions& options) {
  Pe pe(options);
  fill(pe);
  const std::unique_ptr<ChannelTables> made = make_tables(pe);
  const ChannelTables& tables = *made;
  const abi::Channels &kernels = tables.channels(ContextOwner::kKernels),
                      &host = tables.channels(ContextOwner::kHost);
  EXPECT(kernels.slots == options.slots && kernels.id == 0);
  EXPECT(host.slots == 1 && host.id != 0 && host.kernels == &kernels);
  EXPECT(kernels.count >= options.slots * unsigned(pe.n()) && kernels.count % 64 == 0);
  HeapLayout& heap = pe.heap();
  const int peer = (pe.me() + 1) % pe.n();
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost}) {
    const bool is_host = owner == ContextOwner::kHost;
    const abi::NicMemory& memory = tables.memory(owner);
    const abi::Channels& channels = tables.channels(owner);
    for (int any = 0; any < pe.n(); ++any) {
      const std::uint32_t word = channels.route[any], first = abi::first_of_route(word);
      const std::uint32_t last = first + channels.slots - 1;
      EXPECT(abi::path_of_route(word) == Path::kNic && first % channels.slots == 0);
      EXPECT(first / 64 == last / 64 && last < channels.pool.count);
    }
    abi::Channel& queue = first_channel(channels, peer);
    EXPECT(queue.head.path == Path::kNic && &channels.pool.channels[queue.index] == &queue);
    EXPECT(queue.pe == peer && queue.head.depth == options.queue_depth);
    // The softnic does not declare that it reorders.
    const bool is_relaxed = options.ordering == NicOrdering::kRelaxed;
    EXPECT(((queue.head.flags & abi::kNicUnorderedData) != 0) == is_relaxed);
    const bool is_unordered = options.write_order == NicWriteOrder::kRelaxed;
    EXPECT(((queue.head.flags & abi::kNicUnorderedWrites) != 0) == is_unordered);
    EXPECT(((queue.head.flags & abi::kNicSwapsSignals) != 0) == is_unordered);
    EXPECT((queue.nic.peer.rkey_be != queue.nic.peer.strict_rkey_be) == is_relaxed);
    EXPECT(memory.heap.end - memory.heap.begin == kHeapBytes &&
           memory.buffers->tables[0].count == 0);
    const bool on_device = !is_host && options.backend == NicBackend::kDevx;
    for (const void* of_the_queue :
         {static_cast<const void*>(queue.head.ring), static_cast<const void*>(queue.nic.cq.cqes),
          static_cast<const void*>(queue.nic.bell.record),
          static_cast<const void*>(queue.nic.fetch),
          static_cast<const void*>(memory.staging.memory)})
      EXPECT(lies_on(of_the_queue) == (on_device ? Kind::kDevice : Kind::kHost));
    for (const void* of_kernels :
         {static_cast<const void*>(&queue), static_cast<const void*>(channels.route),
          static_cast<const void*>(memory.staging.busy)})
      EXPECT(lies_on(of_kernels) == (is_host ? Kind::kHost : Kind::kDevice));
    EXPECT(lies_on(queue.fault) == Kind::kHost && lies_on(memory.buffers) == Kind::kDevice);
    TablePoster poster{memory, queue};
    poster.write(pe.offset(&heap.target[is_host]), pe.offset(&heap.source[7]), 8);
    const abi::CqeTail tail = poster.wait();
    EXPECT(tail.opcode == abi::CqeOpcode::kRequest && tail.counter == 0);
  }
  bootstrap::test::meet(*pe.job, deadline());
  const int from = (pe.me() + pe.n() - 1) % pe.n();
  EXPECT(heap.target[0] == value_of(from, 7) && heap.target[1] == value_of(from, 7));
  bootstrap::test::meet(*pe.job, deadline());
}

// The receiver reorders: PE 1, for every sender.
void learns_the_order_of_its_peers(const NicOptions& options) {
  if (std::string_view(std::getenv("CHIME_RUN_PE")) == "1") setenv("SOFTNIC_FAULTS", "reorder", 1);
  Pe pe(options);
  const std::unique_ptr<ChannelTables> made = make_tables(pe);
  const ChannelTables& tables = *made;
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost})
    for (int peer = 0; peer < pe.n(); ++peer) {
      const abi::ChannelHead& head = first_channel(tables.channels(owner), peer).head;
      EXPECT(((head.flags & abi::kNicUnorderedWrites) != 0) == (peer == 1));
      EXPECT(((head.flags & abi::kNicSwapsSignals) != 0) == (peer == 1));
    }
  std::printf("PE %d: %s\n", pe.me(), pe.nic.describe().c_str());
  bootstrap::test::meet(*pe.job, deadline());
}

CHIME_KERNEL void run_until_aborted(const std::uint32_t* end) {
  while (exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(end) == 0) exec::pause();
}

// A planted fault: a checked job ends at the first library call that allocates beside a kernel.
void allocates_beside_a_kernel(const NicOptions& options) {
  Pe pe(options);
  const std::unique_ptr<ChannelTables> tables = make_tables(pe);
  device_activity::check();
  static std::uint32_t end = 0;
  EXPECT(exec::launch({}, run_until_aborted, static_cast<const std::uint32_t*>(&end)) == CHIMEX_OK);
  while (device_activity::running_kernel().empty()) std::this_thread::yield();
  alignas(8) std::byte memory[64];
  const auto registration = pe.transport.register_memory(memory, sizeof memory);
}

// The resources of this process: files, and mappings of its address space.
struct Held {
  std::ptrdiff_t files, mappings;
};
Held held() {
  const std::filesystem::directory_iterator fds("/proc/self/fd"), end;
  std::ifstream maps("/proc/self/maps");
  return {std::distance(fds, end),
          std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n')};
}

// Opened and closed 20 times, a PE leaves no resources. The first rounds fill caches.
void leaves_nothing(const NicOptions& options) {
  Held before{}, after{};
  for (int round = 0; round < 20; ++round) {
    {
      Pe pe(options);
      fill(pe);
      exchange(pe, (pe.me() + 1) % pe.n(), 0);
      bootstrap::test::meet(*pe.job, deadline());
    }
    (round < 3 ? before : after) = held();
  }
  std::printf("files %td, then %td; mappings %td, then %td\n", before.files, after.files,
              before.mappings, after.mappings);
  EXPECT(after.files == before.files);
  // The allocator's arenas come and go; a leak in each round would be 17 or more.
  EXPECT(after.mappings < before.mappings + 10);
}

// ---- A whole PE gets a failure while a request that it gave up is still in flight ---------------

// Only block `slot` puts, so through that slot's queue pair.
CHIME_KERNEL void put_by_block(std::byte* heap, unsigned slot) {
  if (exec::block_rank() == slot) chime_putmem(heap, heap + 1024, 1024, 1);
}

CHIME_KERNEL void fail_otherwise() { chime_int_p(nullptr, 1, 1); }

void run_kernel(unsigned blocks, void (*kernel)(std::byte*, unsigned), std::byte* heap,
                unsigned slot) {
  exec::LaunchConfig config;
  config.grid = blocks;
  EXPECT(exec::launch(config, kernel, heap, slot) == CHIMEX_OK);
  EXPECT(exec::stream_synchronize({}) == CHIMEX_OK);
}

bool is_flushed(const abi::Channel& queue) {
  auto& word = *reinterpret_cast<std::uint32_t*>(queue.nic.cq.cqes + abi::kCqeTailWord);
  for (const auto end = deadline(); std::chrono::steady_clock::now() < end;) {
    const auto tail = abi::cqe_tail(std::atomic_ref(word).load(std::memory_order_acquire));
    if (abi::cqe_is_error(tail.opcode)) return true;
    std::this_thread::yield();
  }
  return false;
}

// The requests of PE 0 through either slot are delayed far beyond its timeout. The first failure
// that it reports is another one, and so is the second.
void is_told_in_time() {
  if (std::string_view(std::getenv("CHIME_RUN_PE")) == "0") {
    setenv("SOFTNIC_FAULTS", "seed=3;delay:us=1000000000", 1);
    setenv("CHIME_TIMEOUT", "2", 1);
  }
  chime_init();
  auto* const heap = static_cast<std::byte*>(chime_malloc(4096));
  const Runtime& runtime = current_runtime();
  if (runtime.my_pe() == 0) {
    abi::Channel* const queues = &first_channel(context().channels, 1);
    EXPECT(exec::launch({}, fail_otherwise) == CHIMEX_OK);
    run_kernel(1, put_by_block, heap, 0);
    chimex_async_error_t error{};
    EXPECT(chimex_get_async_error(&error) == CHIMEX_OK && error.status == CHIMEX_ERR_INVALID);
    EXPECT(is_flushed(queues[0]));
    run_kernel(2, put_by_block, heap, 1);
    chime_fence();  // throws, and reports that
    EXPECT(is_flushed(queues[1]));
  }
  // Longer than PE 0 waits for its missing requests, so that PE 0 reports them.
  bootstrap::test::meet(*runtime.bootstrap, deadline(std::chrono::seconds(200)));
  std::fflush(nullptr);
  _exit(0);  // other tests check finalize's messages about lost queues
}

CHIME_KERNEL void post_and_fail(std::byte* heap) {
  chime_putmem_nbi(heap, heap + 1024, 1024, 1);
  chime_int_p(nullptr, 1, 1);
}

// With CHIME_ON_ERROR=exit no thread waits for data that a dying job has in flight.
void tells_before_it_waits() {
  if (std::string_view(std::getenv("CHIME_RUN_PE")) == "0")
    setenv("SOFTNIC_FAULTS", "seed=3;delay:us=1000000000", 1);
  chime_init();
  auto* const heap = static_cast<std::byte*>(chime_malloc(4096));
  if (chime_my_pe() == 0) {
    EXPECT(exec::launch({}, post_and_fail, heap) == CHIMEX_OK);
    EXPECT(exec::stream_synchronize({}) == CHIMEX_OK);
    chime_quiet();
  }
  chime_finalize();
}

int run(const std::string& act) {
  if (act == "tells_before_it_waits") return tells_before_it_waits(), 0;
  if (act == "is_told_in_time") return is_told_in_time(), 0;
  const NicOptions options = read_settings().nic;
  if (act == "transfers") return transfers(options), 0;
  if (act == "leaves_nothing") return leaves_nothing(options), 0;
  if (act == "has_a_table") return has_a_table(options), 0;
  if (act == "learns_the_order_of_its_peers") return learns_the_order_of_its_peers(options), 0;
  if (act == "allocates_beside_a_kernel") return allocates_beside_a_kernel(options), 0;
  if (act == "wraps") return wraps(options), 0;
  if (act == "is_refused") return is_refused(options), 0;
  if (act == "gives_up") return gives_up(options), 0;
  if (act == "fails_a_peer") return fails_a_peer(options), 0;
  return 2;
}

}  // namespace
}  // namespace chime::host::mlx5

int main(int argc, char** argv) {
  try {
    return argc == 2 ? chime::host::mlx5::run(argv[1]) : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
