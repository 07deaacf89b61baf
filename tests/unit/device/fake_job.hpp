// A job without a runtime: heaps, records and Contexts of a few PEs in one process, filled by hand.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/simt/launch/options.hpp"
#include "chime/device/simt/memory/memory_kind.hpp"

namespace chime::tests {

inline constexpr std::size_t kFakeHeapBytes = abi::kHeapReserved + 256 * 1024;

// A FakePe's teams: entry 0 is the team of all PEs. Each has two lanes.
inline constexpr int kFakeTeams = 8, kFakeLanes = 2;
static_assert(kFakeTeams * (kFakeLanes + 1) * sizeof(abi::SyncArea) <= abi::kHeapReserved);

struct FakePe {
  std::unique_ptr<std::byte, decltype(&std::free)> memory{
      static_cast<std::byte*>(std::aligned_alloc(4096, kFakeHeapBytes)), &std::free};
  std::uint64_t dead = 0;  // a bit for each PE
  abi::AbortWord abort{};
  abi::ErrorRecord error{};
  std::array<abi::Team, kFakeTeams> teams = {};
  Context context;
};

// The kinds of a job's memory on a GPU, marked once its address is final.
class MemoryKinds {
 public:
  template <class T>
  void mark(simt::MemoryKind kind, const T* memory, std::size_t count = 1) {
    if (count != 0)
      marked_.push_back(std::make_unique<simt::MarkedMemory>(memory, count * sizeof(T), kind));
  }

 private:
  std::vector<std::unique_ptr<simt::MarkedMemory>> marked_;
};

class FakeJob {
 public:
  explicit FakeJob(int n_pes) : pes_(static_cast<std::size_t>(n_pes)), table_(pes_.size()) {
    for (std::size_t pe = 0; pe < pes_.size(); ++pe) table_[pe] = pes_[pe].memory.get();
    kinds_.mark(simt::MemoryKind::kDevice, table_.data(), table_.size());
    for (std::size_t pe = 0; pe < pes_.size(); ++pe) fill(static_cast<int>(pe));
  }

  Context& context(int pe = 0) { return pes_[static_cast<std::size_t>(pe)].context; }
  abi::ErrorRecord& error(int pe = 0) { return pes_[static_cast<std::size_t>(pe)].error; }

  // Memory of PE `pe` that the tests may use, as T; the same symmetric offset on every PE.
  template <class T>
  T* data(int pe = 0, std::size_t offset = 0) {
    return reinterpret_cast<T*>(context(pe).pe.heap + abi::kHeapReserved + offset);
  }

  // Makes `pes`, in this order, a team with this handle, which names its entry. `pes` must stay.
  void add_team(std::int32_t handle, const std::vector<std::int32_t>& pes) {
    for (std::size_t rank = 0; rank < pes.size(); ++rank) {
      FakePe& self = pes_[static_cast<std::size_t>(pes[rank])];
      abi::Team team = team_of(self, handle, static_cast<int>(rank));
      team.size = static_cast<int>(pes.size());
      team.pes = pes.data();
      self.teams[static_cast<std::size_t>(abi::team_index(handle))] = team;
    }
  }
  abi::Team& team(int pe, std::int32_t handle) {
    return pes_[static_cast<std::size_t>(pe)]
        .teams[static_cast<std::size_t>(abi::team_index(handle))];
  }

  // Removes PE `pe`'s heap from the reach of loads and stores, and restores it.
  void unmap(int pe) { table_[static_cast<std::size_t>(pe)] = nullptr; }
  void map(int pe) { table_[static_cast<std::size_t>(pe)] = context(pe).pe.heap; }

  // For PE 0, which learns of the death.
  abi::AbortWord& abort_word() { return pes_[0].abort; }
  void bury(int pe) { __atomic_fetch_or(&pes_[0].dead, std::uint64_t{1} << pe, __ATOMIC_RELEASE); }

  void raise_abort(int pe, int status, int blame) {
    abi::AbortWord& word = pes_[static_cast<std::size_t>(pe)].abort;
    word.status = status;
    word.pe = blame;
    __atomic_store_n(&word.raised, 2u, __ATOMIC_RELEASE);
  }

  // Runs body(pe) on one thread per PE.
  template <class Body>
  void run(Body body) {
    std::vector<std::thread> threads;
    for (std::size_t pe = 0; pe < pes_.size(); ++pe)
      threads.emplace_back(body, static_cast<int>(pe));
    for (std::thread& thread : threads) thread.join();
  }

 private:
  static abi::Team team_of(FakePe& self, std::int32_t handle, int my_rank) {
    auto* const areas = reinterpret_cast<abi::SyncArea*>(self.memory.get());
    abi::Team team;
    team.handle = handle;
    team.my_rank = my_rank;
    team.lanes = kFakeLanes;
    team.areas = areas + abi::team_index(handle) * (kFakeLanes + 1);
    return team;
  }

  void fill(int pe) {
    FakePe& self = pes_[static_cast<std::size_t>(pe)];
    std::memset(self.memory.get(), 0, kFakeHeapBytes);
    Context& ctx = self.context;
    ctx.abi_version = kAbiVersion;
    ctx.size = sizeof(Context);
    ctx.pe.my_pe = pe;
    ctx.pe.n_pes = static_cast<int>(pes_.size());
    ctx.pe.heap = self.memory.get();
    ctx.pe.heap_bytes = kFakeHeapBytes;
    ctx.pe.peer_heap = table_.data();
    self.teams[0] = team_of(self, 0, pe);
    self.teams[0].size = ctx.pe.n_pes;
    ctx.teams = {self.teams.data(), kFakeTeams, kFakeLanes};
    ctx.pe.dead = &self.dead;
    ctx.pe.abort = &self.abort;
    ctx.pe.error = ctx.pe.async_error = &self.error;
    kinds_.mark(simt::MemoryKind::kDevice, self.memory.get(), kFakeHeapBytes);
    kinds_.mark(simt::MemoryKind::kDevice, self.teams.data(), self.teams.size());
    kinds_.mark(simt::MemoryKind::kHost, &self.dead);
    kinds_.mark(simt::MemoryKind::kHost, &self.abort);
    kinds_.mark(simt::MemoryKind::kHost, &self.error);
  }

  std::vector<FakePe> pes_;
  std::vector<std::byte*> table_;
  MemoryKinds kinds_;
};

// Runs a kernel of one block and waits for it.
template <class... P, class... A>
void run_block(unsigned threads, void (*kernel)(P...), A&&... arguments) {
  exec::LaunchConfig config;
  config.block = threads;
  ASSERT_EQ(exec::launch(config, kernel, std::forward<A>(arguments)...), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
}

// Stores wait in buffers while this exists.
class WeakMemory {
 public:
  explicit WeakMemory(std::uint64_t seed, bool is_weak = true) : before_(simt::options()) {
    simt::Options weak = before_;
    weak.weak = is_weak;
    weak.seed = seed;
    simt::set_options(weak);
  }
  ~WeakMemory() { simt::set_options(before_); }

 private:
  simt::Options before_;
};

}  // namespace chime::tests
