// hot_words: what one thread pays for a word that others read or write, by the location of the word
// and the scope of the operation, alone and while other blocks write to the same GPU's memory.
#include <chime/chime.h>

#include <algorithm>
#include <string>

#include "device_memory.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;
using exec::Order, exec::Scope;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostWriters = 64;                // blocks
constexpr std::size_t kWritten = std::size_t{1} << 16;  // words of 8 bytes, of each writer
constexpr std::size_t kPart = 2048;                     // of them, between two looks
constexpr std::uint64_t kMostNs = 2'000'000'000;  // after that a block no longer waits for others

// Each does its operation once and returns the value that the next one adds to its address: 0,
// which is not known before a load has ended.
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

enum Ended : unsigned { kNotYet, kMeasured, kGivenUp };

// The data that the blocks of a launch share.
struct Meeting {
  unsigned writing;  // blocks that have begun to write
  unsigned ended;    // Ended
};

// Writes part after part of its memory, again and again. Between them it checks whether it may end.
CHIME_DEVICE void write_until(Meeting& meeting, std::uint64_t* memory) {
  const std::uint64_t start = exec::clock_ns();
  std::uint64_t* const mine = memory + (exec::block_rank() - 1) * kWritten;
  if (exec::thread_rank() == 0)
    exec::red_add<Order::kRelaxed, Scope::kDevice>(&meeting.writing, 1U);
  for (std::size_t from = 0; exec::ld<Order::kRelaxed, Scope::kDevice>(&meeting.ended) == kNotYet &&
                             exec::clock_ns() - start < kMostNs;
       from = (from + kPart) % kWritten) {
    for (std::size_t i = exec::thread_rank(); i < kPart; i += exec::block_threads())
      exec::st<Order::kRelaxed, Scope::kDevice>(mine + from + i, start);
    exec::pause();
  }
}

// The first thread of block 0 measures; the other blocks, if there are any, write meanwhile.
template <class Operation>
CHIME_KERNEL void often(std::uint64_t* word, Meeting* meeting, std::uint64_t* memory,
                        int iterations, std::uint64_t* ns) {
  if (exec::block_rank() != 0) return write_until(*meeting, memory);
  if (exec::thread_rank() != 0) return;
  const unsigned writers = exec::grid_blocks() - 1;
  std::uint64_t start = exec::clock_ns();
  while (exec::ld<Order::kRelaxed, Scope::kDevice>(&meeting->writing) != writers) {
    exec::pause();
    if (exec::clock_ns() - start <= kMostNs) continue;
    exec::st<Order::kRelaxed, Scope::kDevice>(&meeting->ended, unsigned{kGivenUp});
    return;
  }
  start = exec::clock_ns();
  std::uint64_t next = 0;
  for (int i = 0; i < iterations; ++i) next = Operation::once(word + next);
  *ns = exec::clock_ns() - start + next;
  exec::st<Order::kRelaxed, Scope::kDevice>(&meeting->ended, unsigned{kMeasured});
}

// ---- The host --------------------------------------------------------------------------------

class Words {
 public:
  explicit Words(const Options& options) : options_(options) {}

  unsigned writers() const { return writers_; }

  template <class Operation>
  std::vector<double> figures() {
    return {ns<Operation>(gpu_, 0), ns<Operation>(gpu_, writers_), ns<Operation>(host_, 0),
            ns<Operation>(host_, writers_)};
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
      const double ns = kernel_us(config, often<Operation>, word, meeting_, memory_, iterations) *
                        1000 / iterations;
      Meeting seen{};
      exec::copy(&seen, meeting_, sizeof seen);
      if (seen.ended != kMeasured) end_with("not all blocks that write began in time");
      best.take(ns);
    }
    return best.value();
  }

  const Options& options_;
  // Besides the block that measures: no more than run at the same time.
  const unsigned writers_ =
      static_cast<unsigned>(std::min(kMostWriters, most_resident_blocks() - 1));
  std::uint64_t* const gpu_ = on_the_gpu<std::uint64_t>();
  std::uint64_t* const host_ = on_the_host<std::uint64_t>(kPage);
  std::uint64_t* const memory_ = on_the_gpu<std::uint64_t>(writers_ * kWritten * 8);
  Meeting* const meeting_ = on_the_gpu<Meeting>();
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of operations on a word that others read or write", false);
  Words words(options);
  Table table(
      "hot words", "Operation", {"GPU (ns)", "GPU, busy", "host (ns)", "host, busy"},
      {"by one thread, one after the other; GPU: the word lies in the GPU's memory, host: in "
       "pinned memory",
       "busy: " + std::to_string(words.writers()) + " other blocks write to the GPU's memory"});
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
