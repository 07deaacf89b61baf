// PEs of a test that reach each other only through libfabric: threads or processes of this test,
// each with a separate heap and transport; the test exchanges their endpoint infos.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu_on_cpu.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/factory.hpp"
#include "host/transport/ofi/transport.hpp"
#include "proxy/heap_words.hpp"

namespace chime::host::ofi::test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline constexpr int kMostPes = 4;
inline constexpr auto kLimit = 60s;  // of any wait of a PE

// The environments of the cases.
struct World {
  const char* name;
  const char* provider;
  bool as_processes = false;
  bool is_gpu = false;  // heaps are a GPU's, unknown to the provider
  // Whether to use less than the provider has.
  bool holds_atomics = false;     // as if it kept no order
  bool knows_its_memory = false;  // as if it had to register local memory
  std::size_t most_bytes = 0;     // of one transfer; 0: the provider's
  std::uint64_t timeout_ns = 30'000'000'000;

  friend void PrintTo(const World& world, std::ostream* out) { *out << world.name; }
};

inline constexpr World kWorlds[] = {
    {.name = "tcp_threads", .provider = "tcp;ofi_rxm"},
    {.name = "tcp_processes", .provider = "tcp;ofi_rxm", .as_processes = true},
    {.name = "tcp_unordered", .provider = "tcp;ofi_rxm", .holds_atomics = true},
    {.name = "tcp_in_pieces",
     .provider = "tcp;ofi_rxm",
     .knows_its_memory = true,
     .most_bytes = 5000},
    {.name = "shm_threads", .provider = "shm"},
    {.name = "shm_processes", .provider = "shm", .as_processes = true},
    {.name = "shm_in_pieces", .provider = "shm", .knows_its_memory = true, .most_bytes = 5000},
    {.name = "tcp_gpu_threads", .provider = "tcp;ofi_rxm", .is_gpu = true},
    {.name = "tcp_gpu_unordered", .provider = "tcp;ofi_rxm", .is_gpu = true, .holds_atomics = true},
    {.name = "tcp_gpu_in_pieces",
     .provider = "tcp;ofi_rxm",
     .is_gpu = true,
     .knows_its_memory = true,
     .most_bytes = 5000},
    {.name = "shm_gpu_processes", .provider = "shm", .as_processes = true, .is_gpu = true},
};

// The meeting place of PEs, with their endpoint infos: memory that forked children share.
struct Board {
  std::atomic<int> arrived = 0;
  std::atomic<bool> has_failed = false;
  std::atomic<int> words[8] = {};  // free for the cases
  struct {
    std::atomic<std::size_t> bytes = 0;
    std::byte endpoint_info[kMostEndpointInfoBytes];
  } shown[kMostPes];
};

// The proxy's words of the heap; a case may watch.
class CpuOwner final : public WordOwner {
 public:
  explicit CpuOwner(std::span<std::byte> heap) : words_(heap) {}
  std::function<void(std::uint64_t at)> before_update, before_write;

  std::uint64_t update(std::uint64_t at, const WordUpdate& update) override {
    if (before_update) before_update(at);
    return words_.update(at, update);
  }
  void write(std::uint64_t at, std::span<const std::byte> data) override {
    if (before_write) before_write(at);
    words_.write(at, data);
  }

 private:
  proxy::HeapWords words_;
};

inline Provider provider_for(const World& world) {
  Provider provider =
      choose_provider({.provider = world.provider}, {.is_one_node = true, .is_gpu = world.is_gpu});
  if (world.holds_atomics) provider.facts.keeps_order = false;
  if (world.knows_its_memory) {
    provider.facts.needs_local_keys = true;
    provider.facts.inject_bytes = 0;
  }
  if (world.most_bytes != 0) provider.facts.most_bytes = world.most_bytes;
  return provider;
}

class Pe {
 public:
  static constexpr std::size_t kHeapBytes = std::size_t{16} << 20;

  Pe(const World& world, Board& board, int me, int n)
      : me(me),
        n(n),
        board(board),
        gpu_(world.is_gpu ? open_gpu_on_cpu() : open_simt_gpu()),
        transport({me, n, world.timeout_ns}, *gpu_, *heap_, provider_for(world)) {
    std::memset(heap(), 0, kHeapBytes);
    if (world.is_gpu)
      before_update_on_gpu = [this](const void* word) {
        const auto at = static_cast<const std::byte*>(word) - heap();
        if (owner.before_update) owner.before_update(static_cast<std::uint64_t>(at));
      };
    else
      driven().serve(owner);
    show_endpoint_info();
    for (int pe = 0; pe < n; ++pe) accept(pe);
    meet();
  }

  std::byte* heap() { return heap_->address(); }
  HostDriven& driven() { return *transport.host_driven(); }

  // Once; ended() has the ends.
  void poll() {
    std::array<HostDriven::Ended, 16> some;
    const std::size_t count = driven().poll(some);
    pause_after(count);
    for (std::size_t i = 0; i < count; ++i) {
      status_[some[i].completion] = some[i].status;
      --outstanding_;
    }
  }
  // Until `is_so`; throws at the limit, or when another PE has failed.
  template <class IsSo>
  void poll_until(IsSo is_so, const char* what = "an end", Clock::duration limit = kLimit) {
    const auto deadline = Clock::now() + limit;
    while (!is_so()) {
      poll();
      if (Clock::now() > deadline)
        throw std::runtime_error(std::string("waited in vain for ") + what);
      if (board.has_failed) throw std::runtime_error("another PE has failed");
    }
  }

  // Returns the number of a request.
  std::size_t post(const HostRequest& request) {
    const std::size_t number = status_.size();
    status_.emplace_back();
    ++outstanding_;
    poll_until([&] { return driven().post(request, number); }, "room");
    return number;
  }
  std::size_t put(int pe, std::uint64_t at, const void* from, std::size_t bytes) {
    return post({HostRequest::Kind::kPut, pe, at, as_bytes(from), bytes});
  }
  std::size_t get(int pe, std::uint64_t at, void* to, std::size_t bytes) {
    return post({HostRequest::Kind::kGet, pe, at, as_bytes(to), bytes});
  }
  std::size_t update(int pe, std::uint64_t at, const WordUpdate& update, void* before = nullptr) {
    return post({HostRequest::Kind::kAtomic, pe, at, as_bytes(before), 0, update});
  }
  std::size_t add(int pe, std::uint64_t at, std::uint64_t value, void* before = nullptr) {
    return this->update(pe, at, {AmoOp::kAdd, 8, value, 0}, before);
  }

  std::optional<chimex_status> status(std::size_t number) const { return status_.at(number); }
  std::size_t outstanding() const { return outstanding_; }
  chimex_status wait(std::size_t number) {
    poll_until([&] { return status_[number].has_value(); });
    return *status_[number];
  }
  // All posted requests have ended without an error.
  void wait_all() {
    poll_until([&] { return outstanding_ == 0; });
    for (std::size_t i = checked_; i < status_.size(); ++i)
      ASSERT_EQ(status_[i], CHIMEX_OK) << "request " << i << ": " << why_lost();
    checked_ = status_.size();
  }

  // All PEs have come; they serve each other meanwhile.
  void meet() {
    const int all = ++meetings_ * n;
    ++board.arrived;
    poll_until([&] { return board.arrived >= all; }, "the other PEs");
  }

  const int me, n;
  Board& board;

 private:
  // There may be fewer processors than PEs, and other tests at the same time.
  void pause_after(std::size_t ended) {
    constexpr int kHopeful = 100;
    empty_polls_ = ended == 0 ? empty_polls_ + 1 : 0;
    if (empty_polls_ > kHopeful)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (ended == 0)
      std::this_thread::yield();
  }
  static std::byte* as_bytes(const void* at) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(at));
  }
  std::string why_lost() const {
    std::string all;
    for (int pe = 0; pe < n; ++pe) all += transport.why_lost(pe).value_or("");
    return all;
  }
  void show_endpoint_info() {
    const EndpointInfoBytes endpoint_info = transport.own_endpoint_info().bytes;
    ASSERT_LE(endpoint_info.size(), kMostEndpointInfoBytes);
    std::memcpy(board.shown[me].endpoint_info, endpoint_info.data(), endpoint_info.size());
    board.shown[me].bytes = endpoint_info.size();
  }
  void accept(int pe) {
    const auto& shown = board.shown[pe];
    poll_until([&] { return shown.bytes != 0; }, "an endpoint info");
    ASSERT_TRUE(transport.accept(pe, {.bytes = {shown.endpoint_info, shown.bytes}}).is_accepted)
        << transport.why_not(pe);
  }

  const std::unique_ptr<Gpu> gpu_;
  const std::unique_ptr<DeviceMemory> heap_ = gpu_->allocate_heap(kHeapBytes);
  std::vector<std::optional<chimex_status>> status_;
  std::size_t outstanding_ = 0, checked_ = 0;
  int meetings_ = 0, empty_polls_ = 0;

 public:
  CpuOwner owner{{heap_->address(), kHeapBytes}};
  OfiTransport transport;
};

using Body = std::function<void(Pe&)>;

class Pes : public testing::TestWithParam<World> {
 protected:
  Pes() : board_(*new (shared()) Board) {}
  ~Pes() override { ::munmap(&board_, sizeof board_); }

  void run(int n, const Body& body) { run_in(GetParam(), n, body); }
  void run_in(const World& world, int n, const Body& body) {
    if (const std::string why = why_not(world); !why.empty()) GTEST_SKIP() << why;
    if (world.as_processes) return run_processes(world, n, body);
    std::vector<std::thread> threads;
    for (int me = 0; me < n; ++me) threads.emplace_back([&, me] { be(world, me, n, body); });
    for (std::thread& thread : threads) thread.join();
  }

  // Returns the processes' exit statuses, as waitpid() does.
  std::vector<int> run_forked(const World& world, int n, const Body& body) {
    std::vector<pid_t> children;
    for (int me = 0; me < n; ++me) {
      const pid_t child = ::fork();
      if (child == 0) {
        be(world, me, n, body);
        std::fflush(nullptr);
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      }
      children.push_back(child);
    }
    std::vector<int> statuses;
    for (const pid_t child : children) ::waitpid(child, &statuses.emplace_back(), 0);
    return statuses;
  }

  // The reason why this World is not possible here, or nothing.
  static std::string why_not(const World& world) {
    static const std::set<std::string> missing = missing_providers();
    return missing.contains(world.provider) ? std::string("no provider ") + world.provider + " here"
                                            : "";
  }

  Board& board_;

 private:
  // Looks for the providers of all Worlds before the first World runs: a process that has used
  // libfabric must not fork.
  static std::set<std::string> missing_providers() {
    std::set<std::string> asked, missing;
    for (const World& world : kWorlds)
      if (asked.insert(world.provider).second && !is_here(world)) missing.insert(world.provider);
    return missing;
  }
  static bool is_here(const World& world) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        provider_for(world);
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(1);
      }
      std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0;
  }

  static void* shared() {
    return ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                  0);
  }

  void run_processes(const World& world, int n, const Body& body) {
    for (const int status : run_forked(world, n, body)) EXPECT_EQ(status, 0);
  }

  void be(const World& world, int me, int n, const Body& body) {
    try {
      Pe pe(world, board_, me, n);
      body(pe);
      pe.meet();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "PE " << me << ": " << error.what();
    }
    if (testing::Test::HasFailure()) board_.has_failed = true;
  }
};

// ---- Remains

inline std::set<std::string> names_in(const char* folder) {
  std::set<std::string> names;
  DIR* const all = ::opendir(folder);
  while (const dirent* one = ::readdir(all)) names.insert(one->d_name);
  ::closedir(all);
  return names;
}

// libfabric's shm calls its files <process>:<user>:<number>.
inline std::set<std::string> left_in_shared_memory_by(pid_t process) {
  const std::string its_prefix = std::to_string(process) + ":";
  std::set<std::string> its;
  for (const std::string& name : names_in("/dev/shm"))
    if (name.starts_with(its_prefix)) its.insert(name);
  return its;
}

inline std::string name_of(const testing::TestParamInfo<World>& info) { return info.param.name; }

}  // namespace chime::host::ofi::test
