// one_gpu: the time of puts, gets and signals of one PE to itself on one GPU, beside a copy kernel
// without Chime and beside the driver's copies. For a machine with one GPU, where two PEs would
// take turns on it.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kMe = 0;
constexpr unsigned kWarpThreads = 32, kBlockThreads = 256;
constexpr std::size_t kStep = 8;  // from one size to the next

struct Put {
  template <class Group>
  CHIME_DEVICE static void move(const chime::Context& ctx, Group group, std::byte* dst,
                                const std::byte* src, std::size_t bytes) {
    chime::putmem(ctx, group, dst, src, bytes, kMe);
    chime::quiet(ctx);
  }
};

struct Get {
  template <class Group>
  CHIME_DEVICE static void move(const chime::Context& ctx, Group group, std::byte* dst,
                                const std::byte* src, std::size_t bytes) {
    chime::getmem(ctx, group, dst, src, bytes, kMe);
  }
};

struct alignas(16) Words {
  std::uint64_t low, high;
};

// 16 bytes for each thread and step; single words if the size is no multiple of it.
struct ByHand {
  template <class Group>
  CHIME_DEVICE static void move(const chime::Context&, Group group, std::byte* dst,
                                const std::byte* src, std::size_t bytes) {
    if (bytes % sizeof(Words) == 0) {
      copy<Words>(group, dst, src, bytes);
    } else {
      copy<std::uint64_t>(group, dst, src, bytes);
    }
    group.sync();
  }

 private:
  template <class Word, class Group>
  CHIME_DEVICE static void copy(Group group, std::byte* dst, const std::byte* src,
                                std::size_t bytes) {
    auto* const to = reinterpret_cast<Word*>(dst);
    const auto* const from = reinterpret_cast<const Word*>(src);
    for (std::size_t i = group.rank(); i < bytes / sizeof(Word); i += group.size()) to[i] = from[i];
  }
};

template <class Kind, class Group>
CHIME_KERNEL void move_often(chime::Context ctx, std::byte* dst, const std::byte* src,
                             std::size_t bytes, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) Kind::move(ctx, Group{}, dst, src, bytes);
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

// Two blocks that put and signal to each other in turns.
CHIME_KERNEL void ping_pong(chime::Context ctx, std::byte* dst, const std::byte* src,
                            std::size_t bytes, std::uint64_t* signals, std::uint64_t from,
                            int iterations, std::uint64_t* ns) {
  const chime::Block block;
  const unsigned me = exec::block_rank(), other = 1 - me;
  const std::uint64_t start = exec::clock_ns();
  for (std::uint64_t turn = from + 1; turn <= from + iterations; ++turn) {
    if (me == 1) chime::signal_wait_until(ctx, block, signals + me, chime::Cmp::kGe, turn);
    chime::putmem_signal(ctx, block, dst + other * bytes, src, bytes, {signals + other, turn}, kMe);
    if (me == 0) chime::signal_wait_until(ctx, block, signals + me, chime::Cmp::kGe, turn);
  }
  if (me == 0 && exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

// Symmetric memory, and the current values of the signals.
struct Board {
  std::byte* dst;  // two messages
  std::byte* src;
  std::uint64_t* signals;
  std::uint64_t turns = 0;
};

int iterations_for(std::size_t bytes) { return bytes <= 8192 ? 200 : 10; }

template <class Kind, class Group>
double device_us(unsigned threads, const Board& board, std::size_t bytes, int iterations) {
  exec::LaunchConfig config;
  config.block = threads;
  return kernel_us(config, move_often<Kind, Group>, chime::context(), board.dst, board.src, bytes,
                   iterations) /
         iterations;
}

double ping_pong_us(Board& board, std::size_t bytes, int iterations) {
  constexpr int kHalves = 2;  // of a round trip
  exec::LaunchConfig config;
  config.grid = 2;
  config.block = kBlockThreads;
  const double us = kernel_us(config, ping_pong, chime::context(), board.dst, board.src, bytes,
                              board.signals, board.turns, iterations);
  board.turns += iterations;
  return us / iterations / kHalves;
}

// The driver's copies, one after the other in a stream.
double copies_us(const Board& board, std::size_t bytes, int iterations) {
  const double start = now_us();
  for (int i = 0; i < iterations; ++i) {
    if (exec::copy_async(board.dst, board.src, bytes, exec::Stream{}) != CHIMEX_OK)
      return kNotMeasured;
  }
  return exec::stream_synchronize(exec::Stream{}) == CHIMEX_OK ? (now_us() - start) / iterations
                                                               : kNotMeasured;
}

std::vector<double> measure(const Options& options, Board& board, std::size_t bytes) {
  const int iterations = options.iterations(iterations_for(bytes));
  Best put_thread, put_warp, put_block, get_thread, get_warp, get_block, by_hand, copies, signal;
  for (int r = 0; r < options.repeats; ++r) {
    put_thread.take(device_us<Put, chime::Thread>(1, board, bytes, iterations));
    put_warp.take(device_us<Put, chime::Warp>(kWarpThreads, board, bytes, iterations));
    put_block.take(device_us<Put, chime::Block>(kBlockThreads, board, bytes, iterations));
    get_thread.take(device_us<Get, chime::Thread>(1, board, bytes, iterations));
    get_warp.take(device_us<Get, chime::Warp>(kWarpThreads, board, bytes, iterations));
    get_block.take(device_us<Get, chime::Block>(kBlockThreads, board, bytes, iterations));
    by_hand.take(device_us<ByHand, chime::Block>(kBlockThreads, board, bytes, iterations));
    copies.take(copies_us(board, bytes, iterations));
    signal.take(ping_pong_us(board, bytes, iterations));
  }
  return {put_thread.value(), put_warp.value(), put_block.value(),
          get_thread.value(), get_warp.value(), get_block.value(),
          by_hand.value(),    copies.value(),   signal.value()};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 2 << 20;
  parse(options, argc, argv, "What one PE's operations to itself take, beside copies", true);
  chime_init();
  need_pes(1, "one_gpu");
  Board board{static_cast<std::byte*>(chime_malloc(2 * options.max_bytes)),
              static_cast<std::byte*>(chime_malloc(options.max_bytes)),
              static_cast<std::uint64_t*>(chime_calloc(2, sizeof(std::uint64_t)))};
  Table table("one GPU", "Size",
              {"put T (us)", "put W (us)", "put B (us)", "get T (us)", "get W (us)", "get B (us)",
               "hand B (us)", "copy (us)", "signal (us)"},
              {"one PE to itself, best of " + std::to_string(options.repeats) +
                   " repeats; T, W, B: a thread, a warp, a block of " +
                   std::to_string(kBlockThreads) + "; each put with a quiet",
               "hand: a block's own loop of 16-byte words. copy: the driver's copies in a stream",
               "signal: put_signal from block to block and back, HALF of it"});
  sweep(table, options, true, sizes_of(options, kStep),
        [&](const Options& chosen, Size size) { return measure(chosen, board, size.bytes); });
  const bool written = table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
