// signal_pplat: ping-pong of put_signal between PE 0 and PE 1, each side waiting for the other's
// signal. Prints half of a round trip.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr unsigned kBlockThreads = 32;
constexpr int kHalves = 2;  // of a round trip

// Symmetric memory.
struct Board {
  std::byte* dst;
  std::byte* src;
  std::uint64_t* signal;
};

// `from`: the signal's value so far; it counts on.
template <class Group>
CHIME_KERNEL void ping_pong(chime::Context ctx, Board board, std::size_t bytes, std::uint64_t from,
                            int iterations, std::uint64_t* ns) {
  const Group group;
  const int peer = 1 - chime::my_pe(ctx);
  const std::uint64_t start = exec::clock_ns();
  for (std::uint64_t turn = from + 1; turn <= from + iterations; ++turn) {
    if (peer == 0) chime::signal_wait_until(ctx, group, board.signal, chime::Cmp::kGe, turn);
    chime::putmem_signal(ctx, group, board.dst, board.src, bytes, {board.signal, turn}, peer);
    if (peer == 1) chime::signal_wait_until(ctx, group, board.signal, chime::Cmp::kGe, turn);
  }
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

int iterations_for(std::size_t bytes) { return bytes <= 8192 ? 5000 : 200; }

class PingPong {
 public:
  PingPong(const Board& board, std::size_t bytes, int iterations)
      : board_(board), bytes_(bytes), iterations_(iterations) {}

  double by_host(std::uint64_t* count) const {
    const int peer = 1 - chime_my_pe();
    chime_barrier_all();
    return host_us(iterations_,
                   [&] {
                     const std::uint64_t turn = ++*count;
                     if (peer == 0) chime_signal_wait_until(board_.signal, CHIME_CMP_GE, turn);
                     chime_putmem_signal(board_.dst, board_.src, bytes_, board_.signal, turn,
                                         CHIME_SIGNAL_SET, peer);
                     if (peer == 1) chime_signal_wait_until(board_.signal, CHIME_CMP_GE, turn);
                   }) /
           kHalves;
  }

  template <class Group>
  double by_kernel(unsigned threads, std::uint64_t* count) const {
    exec::LaunchConfig config;
    config.block = threads;
    chime_barrier_all();
    const double us =
        kernel_us(config, ping_pong<Group>, chime::context(), board_, bytes_, *count, iterations_);
    *count += iterations_;
    return us / iterations_ / kHalves;
  }

 private:
  Board board_;
  std::size_t bytes_;
  int iterations_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 64 << 10;
  parse(options, argc, argv, "Ping-pong of put_signal between PE 0 and PE 1", true);
  chime_init();
  need_pes(2, "signal_pplat");
  const Board board = {static_cast<std::byte*>(chime_malloc(options.max_bytes)),
                       static_cast<std::byte*>(chime_malloc(options.max_bytes)),
                       static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)))};
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  Table table("put_signal ping-pong", "Size",
              {"Host (us)", "Thread (us)", "Block (us)", "cache line (us)"},
              {"HALF of a round trip; best of " + std::to_string(options.repeats) + " repeats",
               "Host: two host threads. Thread, Block: kernels of one thread, one block of " +
                   std::to_string(kBlockThreads) + " threads",
               "cache line: the floor, half a round trip of 8 bytes without Chime, in turns with "
               "the rest"});
  const bool prints = chime_my_pe() == 0;
  std::uint64_t signals = 0, lines = 0;
  sweep(table, options, prints, sizes_of(options), [&](const Options& chosen, Size size) {
    const PingPong run(board, size.bytes, chosen.iterations(iterations_for(size.bytes)));
    Best host, thread, block, floor;
    for (int r = 0; r < chosen.repeats; ++r) {
      if (device_is_cpu()) {
        host.take(run.by_host(&signals));
        floor.take(cache_line_us(chosen, word, &lines));
      }
      thread.take(run.by_kernel<chime::Thread>(1, &signals));
      block.take(run.by_kernel<chime::Block>(kBlockThreads, &signals));
    }
    return std::vector{host.value(), thread.value(), block.value(), floor.value()};
  });
  const bool written = !prints || table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
