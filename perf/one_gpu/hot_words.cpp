// hot_words: what one thread pays for a word that others read or write, by where the word lies and
// by the scope of the operation, alone and while other blocks write to the same GPU's memory.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;
using exec::Order, exec::Scope;

constexpr std::size_t kPage = 4096;
constexpr unsigned kWriters = 64;                       // blocks
constexpr std::size_t kWritten = std::size_t{1} << 16;  // words of 8 bytes, of each writer
constexpr std::uint64_t kMostNs = 2'000'000'000;        // then a writer gives up

// Each does its operation once and returns what the next one adds to its address: 0, which is not
// known before a load has ended.
template <Order kOrder, Scope kScope>
struct Load {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    return exec::ld<kOrder, kScope>(word);
  }
};
template <Order kOrder, Scope kScope>
struct Store {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    exec::st<kOrder, kScope>(word, 0);
    return 0;
  }
};
template <Scope kScope>
struct StoreAndFence {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    exec::st<Order::kRelaxed, kScope>(word, 0);
    exec::fence<Order::kAcqRel, kScope>();
    return 0;
  }
};
template <Scope kScope>
struct Fence {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t*) {
    exec::fence<Order::kAcqRel, kScope>();
    return 0;
  }
};
template <Scope kScope>
struct Add {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    exec::red_add<Order::kRelaxed, kScope>(word, std::uint64_t{0});
    return 0;
  }
};
template <Order kOrder, Scope kScope>
struct FetchAdd {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    return exec::atomic_add<kOrder, kScope>(word, 0);
  }
};
struct Doorbell {
  CHIME_DEVICE static std::uint64_t once(std::uint64_t* word) {
    exec::st_mmio(word, 0);
    return 0;
  }
};

// Where the first block stands: 0 begins, 1 measures, 2 has ended.
struct Meeting {
  unsigned writing, ended;
};

CHIME_DEVICE void write_until(Meeting& meeting, std::uint64_t* memory) {
  const std::uint64_t start = exec::clock_ns();
  std::uint64_t* const mine = memory + (exec::block_rank() - 1) * kWritten;
  exec::red_add<Order::kRelaxed, Scope::kDevice>(&meeting.writing, 1U);
  std::uint64_t round = 0;
  while (exec::ld<Order::kRelaxed, Scope::kDevice>(&meeting.ended) == 0 &&
         exec::clock_ns() - start < kMostNs) {
    for (std::size_t i = exec::thread_rank(); i < kWritten; i += exec::block_threads())
      exec::st<Order::kRelaxed, Scope::kDevice>(mine + i, round);
    ++round;
  }
}

// The first thread of block 0 measures; the other blocks, if there are any, write meanwhile.
template <class Operation>
CHIME_KERNEL void often(std::uint64_t* word, Meeting* meeting, std::uint64_t* memory,
                        int iterations, std::uint64_t* ns) {
  if (exec::block_rank() != 0) return write_until(*meeting, memory);
  if (exec::thread_rank() != 0) return;
  const unsigned writers = exec::grid_blocks() - 1;
  while (exec::ld<Order::kRelaxed, Scope::kDevice>(&meeting->writing) != writers) exec::pause();
  const std::uint64_t start = exec::clock_ns();
  std::uint64_t next = 0;
  for (int i = 0; i < iterations; ++i) next = Operation::once(word + next);
  *ns = exec::clock_ns() - start + next;
  exec::st<Order::kRelaxed, Scope::kDevice>(&meeting->ended, 1U);
}

// ---- The host --------------------------------------------------------------------------------

[[noreturn]] void end_with(const char* what) {
  std::fprintf(stderr, "hot_words: %s: %s\n", what, exec::last_error());
  std::exit(1);
}

std::byte* on_the_gpu(std::size_t bytes) {
  void* memory = nullptr;
  if (exec::device_malloc(&memory, bytes) != CHIMEX_OK) end_with("no memory on the device");
  return static_cast<std::byte*>(memory);
}

// Pinned, at the address that kernels know it by.
std::byte* on_the_host(std::size_t bytes) {
  void* memory = nullptr;
#if CHIME_PERF_CYCLES  // a GPU's program (CMakeLists.txt)
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess)
    end_with("no pinned memory");
#else
  memory = std::aligned_alloc(kPage, bytes);
#endif
  std::memset(memory, 0, bytes);
  return static_cast<std::byte*>(memory);
}

class Words {
 public:
  explicit Words(const Options& options) : options_(options) {}

  template <class Operation>
  std::vector<double> figures() {
    return {ns<Operation>(gpu_, 0), ns<Operation>(gpu_, kWriters), ns<Operation>(host_, 0),
            ns<Operation>(host_, kWriters)};
  }

 private:
  template <class Operation>
  double ns(std::uint64_t* word, unsigned writers) {
    const int iterations = options_.iterations(1000);
    exec::LaunchConfig config;
    config.grid = writers + 1;
    config.block = writers ? 256 : 32;
    config.cooperative = true;  // they wait for each other
    Best best;
    for (int r = 0; r < options_.repeats; ++r) {
      const Meeting begins{};
      exec::copy(meeting_, &begins, sizeof begins);
      const std::uint64_t nothing = 0;
      exec::copy(gpu_, &nothing, sizeof nothing);
      best.take(kernel_us(config, often<Operation>, word, meeting_, memory_, iterations) * 1000 /
                iterations);
    }
    return best.value();
  }

  const Options& options_;
  std::uint64_t* const gpu_ = reinterpret_cast<std::uint64_t*>(on_the_gpu(kPage));
  std::uint64_t* const host_ = reinterpret_cast<std::uint64_t*>(on_the_host(kPage));
  std::uint64_t* const memory_ =
      reinterpret_cast<std::uint64_t*>(on_the_gpu(kWriters * kWritten * 8));
  Meeting* const meeting_ = reinterpret_cast<Meeting*>(on_the_gpu(sizeof(Meeting)));
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of operations on a word that others read or write", false);
  Table table(
      "hot words", "Operation", {"GPU (ns)", "GPU, busy", "host (ns)", "host, busy"},
      {"by one thread, one after the other; GPU: the word lies in the GPU's memory, host: in "
       "pinned memory",
       "busy: " + std::to_string(kWriters) + " other blocks write to the GPU's memory"});
  Words words(options);
  table.print_header();
  table.row("ld.relaxed.gpu", words.figures<Load<Order::kRelaxed, Scope::kDevice>>());
  table.row("ld.relaxed.sys", words.figures<Load<Order::kRelaxed, Scope::kSystem>>());
  table.row("ld.acquire.gpu", words.figures<Load<Order::kAcquire, Scope::kDevice>>());
  table.row("ld.acquire.sys", words.figures<Load<Order::kAcquire, Scope::kSystem>>());
  table.row("st.relaxed.sys", words.figures<Store<Order::kRelaxed, Scope::kSystem>>());
  table.row("st.release.gpu", words.figures<Store<Order::kRelease, Scope::kDevice>>());
  table.row("st.release.sys", words.figures<Store<Order::kRelease, Scope::kSystem>>());
  table.row("st.mmio", words.figures<Doorbell>());
  table.row("red.gpu", words.figures<Add<Scope::kDevice>>());
  table.row("red.sys", words.figures<Add<Scope::kSystem>>());
  table.row("atom.relaxed.gpu", words.figures<FetchAdd<Order::kRelaxed, Scope::kDevice>>());
  table.row("atom.relaxed.sys", words.figures<FetchAdd<Order::kRelaxed, Scope::kSystem>>());
  table.row("atom.acq_rel.gpu", words.figures<FetchAdd<Order::kAcqRel, Scope::kDevice>>());
  table.row("fence.gpu", words.figures<Fence<Scope::kDevice>>());
  table.row("fence.sys", words.figures<Fence<Scope::kSystem>>());
  table.row("st, fence.gpu", words.figures<StoreAndFence<Scope::kDevice>>());
  table.row("st, fence.sys", words.figures<StoreAndFence<Scope::kSystem>>());
  return table.write_json(options.json) ? 0 : 1;
}
