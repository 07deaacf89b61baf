// A World: the environment of a fact. Device (cpu, cuda, softgpu) x path to the peers (p2p) x
// number of PEs x PEs as threads of one process or as processes, on one host or several. Its name
// lists these: "cpu-p2p-4threads", "cpu-2hosts-tcp-4processes".
//
//   IN_EVERY_WORLD(PutSignal, DataIsVisibleBeforeSignal) {
//     world.spawn(2, [](Pe& pe) { ... });
//   }
//
// A test program runs in one World, named by --world= or CHIME_TEST_WORLD; CTest runs it once per
// World of worlds.txt. The job is initialised once and serves all facts of the program. The first
// PE that fails a fact ends the program on all PEs, because the others may wait for it for ever.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chime/chime.h"
#include "chime/device/exec/exec.cuh"

namespace chime::tests {

// A World's device. A test program is compiled for one of them.
struct WorldDevice {
  std::string_view name;
  bool is_gpu;                // to Chime and to the program's compiler
  bool runs_on_the_executor;  // device/simt: schedules and weak memory have seeds
};
inline constexpr WorldDevice kWorldDevices[] = {
    {.name = "cpu", .is_gpu = false, .runs_on_the_executor = true},
    {.name = "cuda", .is_gpu = true, .runs_on_the_executor = false},
    {.name = "softgpu", .is_gpu = true, .runs_on_the_executor = true},
};
enum class WorldPes { kThreads, kProcesses };

// The parts of a World's name. Paths other than p2p come with their code.
struct WorldName {
  WorldDevice device = kWorldDevices[0];
  std::string path = "p2p";
  int pes = 1;
  WorldPes kind = WorldPes::kThreads;

  // "cpu-p2p-4threads"; throws std::invalid_argument with the fault of the name.
  static WorldName parse(std::string_view text);
  std::string text() const;
  int hosts() const;
};

// One PE of the World, in its own thread: the interface for bodies.
class Pe {
 public:
  Pe(int rank, int size) : rank_(rank), size_(size) {}
  ~Pe();
  Pe(const Pe&) = delete;
  Pe& operator=(const Pe&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int next() const { return (rank_ + 1) % size_; }
  int previous() const { return (rank_ + size_ - 1) % size_; }
  const Context& context() const { return chime::context(); }

  // Chime's own barrier, called from the host.
  void barrier() const { chime_barrier_all(); }

  // Runs a kernel and waits for it, on the PE's own stream unless another is named: PEs that are
  // threads share one default stream of a GPU, on which the kernel of one PE would wait for that of
  // the other, and that for it. A kernel that cannot run fails the fact.
  template <class... P, class... A>
  void run(exec::LaunchConfig config, void (*kernel)(P...), A&&... arguments) const {
    if (config.stream == exec::Stream{}) config.stream = stream();
    exec::Status status = exec::launch(config, kernel, std::forward<A>(arguments)...);
    if (status == CHIMEX_OK) status = exec::stream_synchronize(config.stream);
    if (status != CHIMEX_OK) stop_with_launch_error(status);
  }
  template <class... P, class... A>
  void run(unsigned blocks, unsigned threads, void (*kernel)(P...), A&&... arguments) const {
    exec::LaunchConfig config;
    config.grid = blocks;
    config.block = threads;
    run(config, kernel, std::forward<A>(arguments)...);
  }
  // All blocks at once; the kernel may sync_grid().
  template <class... P, class... A>
  void run_together(unsigned blocks, unsigned threads, void (*kernel)(P...),
                    A&&... arguments) const {
    exec::LaunchConfig config;
    config.grid = blocks;
    config.block = threads;
    config.cooperative = true;
    run(config, kernel, std::forward<A>(arguments)...);
  }

 private:
  [[noreturn]] static void stop_with_launch_error(int status);
  exec::Stream stream() const;  // made at the first call

  int rank_, size_;
  mutable exec::Stream stream_ = {};
};

// Thrown to leave a body whose PE cannot go on; the World turns it into a failure of the fact.
struct PeStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Symmetric memory for the length of a body, cleared on all PEs when the constructor returns on
// one. Construction and destruction are collective. The host reads and writes it by copies, because
// a GPU's heap is not the host's memory.
template <class T>
class Symmetric {
 public:
  explicit Symmetric(std::size_t count, std::size_t alignment = 512)
      : count_(count), data_(static_cast<T*>(chime_align(alignment, bytes_of(count)))) {
    if (!data_)
      throw PeStopped("no symmetric memory for " + std::to_string(count * sizeof(T)) +
                      " bytes: " + chimex_last_error());
    fill(0);
    chime_barrier_all();
  }
  ~Symmetric() { chime_free(data_); }
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;

  T* data() const { return data_; }
  operator T*() const { return data_; }
  std::size_t count() const { return count_; }

  void fill(int byte) { write(std::vector<std::byte>(bytes_of(count_), std::byte(byte)), 0); }
  void write(std::span<const T> values) { write(std::as_bytes(values), 0); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    exec::copy(values.data(), data_, count_ * sizeof(T));
    return values;
  }
  T read(std::size_t index) const {
    T value;
    exec::copy(&value, data_ + index, sizeof(T));
    return value;
  }

 private:
  static std::size_t bytes_of(std::size_t count) {
    return std::max<std::size_t>(count, 1) * sizeof(T);
  }
  void write(std::span<const std::byte> bytes, std::size_t at) {
    exec::copy(reinterpret_cast<std::byte*>(data_) + at, bytes.data(), bytes.size());
  }

  std::size_t count_;
  T* data_;
};

// Memory of this PE's device that is not shared with other PEs.
template <class T>
class Private {
 public:
  explicit Private(std::size_t count) : count_(count) {
    void* data = nullptr;
    if (exec::device_malloc(&data, std::max<std::size_t>(count, 1) * sizeof(T)) != CHIMEX_OK)
      throw PeStopped("no device memory");
    data_ = static_cast<T*>(data);
    const std::vector<T> zeros(count);
    write(std::span<const T>(zeros));
  }
  explicit Private(std::span<const T> values) : Private(values.size()) { write(values); }
  ~Private() { exec::device_free(data_); }
  Private(const Private&) = delete;
  Private& operator=(const Private&) = delete;

  T* data() const { return data_; }
  operator T*() const { return data_; }
  void write(std::span<const T> values) { exec::copy(data_, values.data(), values.size_bytes()); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    exec::copy(values.data(), data_, count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

class World {
 public:
  ~World();

  // The World of this program.
  static World& current();
  // Joins the job. False, with the reason, if this machine has no such World.
  static bool start(const WorldName& name, std::string* why_not);
  static void stop();

  const std::string& name() const { return text_; }
  bool maps_all() const { return name_.path == "p2p"; }  // PEs map each other's memory
  // The number of PEs whose memory each PE maps, its own among them.
  int mapped_pes() const;
  int pes() const { return name_.pes; }
  int pes_of_a_host() const { return name_.pes / name_.hosts(); }
  WorldPes kind() const { return name_.kind; }

  bool has_seeded_schedules() const { return name_.device.runs_on_the_executor; }
  bool has_a_gpu() const { return name_.device.is_gpu; }

  // Runs `body` on every PE of this World, and returns when it has ended on all of them. The fact
  // needs at least `pes` PEs: a smaller World skips it.
  void spawn(int pes, const std::function<void(Pe&)>& body);

  // The PE that this process prints for: 0, but for processes of rank 1 and up.
  int printing_pe() const;

 private:
  class Crew;
  class ThreadCrew;
  class ProcessCrew;
  explicit World(const WorldName& name);

  WorldName name_;
  std::string text_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace chime::tests

#define IN_EVERY_WORLD(SUITE, FACT)                                          \
  static void SUITE##_##FACT##_in(chime::tests::World& world);               \
  TEST(SUITE, FACT) { SUITE##_##FACT##_in(chime::tests::World::current()); } \
  static void SUITE##_##FACT##_in([[maybe_unused]] chime::tests::World& world)
