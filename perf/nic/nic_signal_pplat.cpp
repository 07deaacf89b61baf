// nic_signal_pplat: ping-pong of put_signal through the NIC between PE 0 and PE 1, beside the same
// by libmlx5: a write and a write of a flag, posted together. Prints half of a round trip.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"
#include "turns.hpp"
#include "verbs_rival.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kIterations = 200;
constexpr int kRepeats = 51;
constexpr int kHalves = 2;        // of a round trip
constexpr std::size_t kStep = 8;  // from one size to the next

// Symmetric memory.
struct Board {
  std::byte* dst;
  std::byte* src;
  std::uint64_t* signal;
};

// `from`: the signal's value so far; it counts on.
CHIME_KERNEL void ping_pong(chime::Context ctx, Board board, std::size_t bytes, std::uint64_t from,
                            int iterations, std::uint64_t* ns) {
  const chime::Thread thread;
  const int peer = 1 - chime::my_pe(ctx);
  const std::uint64_t start = exec::clock_ns();
  for (std::uint64_t turn = from + 1; turn <= from + iterations; ++turn) {
    if (peer == 0) chime::signal_wait_until(ctx, thread, board.signal, chime::Cmp::kGe, turn);
    chime::putmem_signal(ctx, thread, board.dst, board.src, bytes, {board.signal, turn}, peer);
    if (peer == 1) chime::signal_wait_until(ctx, thread, board.signal, chime::Cmp::kGe, turn);
  }
  *ns = exec::clock_ns() - start;
}

// One size, on both PEs.
class PingPong {
 public:
  PingPong(const Board& board, Endpoint& verbs, std::size_t bytes, int iterations)
      : board_(board), verbs_(verbs), bytes_(bytes), iterations_(iterations) {}

  double by_verbs(std::uint64_t* count) const {
    chime_barrier_all();
    const bool first = chime_my_pe() == 0;
    return half_us([&] {
      const std::uint64_t turn = ++*count;
      const auto came = [&] { return verbs_.flag() >= turn; };
      if (!first) wait_for("message", came);
      verbs_.write_and_flag(static_cast<std::uint32_t>(bytes_), turn);
      if (first) wait_for("answer", came);
      wait_for("completion", [&] { return verbs_.poll(); });
    });
  }

  double by_host(std::uint64_t* count) const {
    chime_barrier_all();
    const int peer = 1 - chime_my_pe();
    return half_us([&] {
      const std::uint64_t turn = ++*count;
      if (peer == 0) chime_signal_wait_until(board_.signal, CHIME_CMP_GE, turn);
      chime_putmem_signal(board_.dst, board_.src, bytes_, board_.signal, turn, CHIME_SIGNAL_SET,
                          peer);
      if (peer == 1) chime_signal_wait_until(board_.signal, CHIME_CMP_GE, turn);
    });
  }

  double by_kernel(std::uint64_t* count) const {
    chime_barrier_all();
    const double us =
        kernel_us({}, ping_pong, chime::context(), board_, bytes_, *count, iterations_);
    *count += static_cast<std::uint64_t>(iterations_);
    return us / iterations_ / kHalves;
  }

 private:
  template <class Turn>
  double half_us(Turn turn) const {
    return host_us(iterations_, turn) / kHalves;
  }

  Board board_;
  Endpoint& verbs_;
  std::size_t bytes_;
  int iterations_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 4 << 10;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Ping-pong of put_signal through the NIC", true);
  chime_init();
  need_pes(2, "nic_signal_pplat");
  need_nic_path("nic_signal_pplat");
  const Board board = {static_cast<std::byte*>(chime_malloc(options.max_bytes)),
                       static_cast<std::byte*>(chime_malloc(options.max_bytes)),
                       static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)))};
  auto verbs = connect_by_verbs(options.max_bytes);
  Table table("put_signal ping-pong through the NIC", "Size", Turns::columns(),
              {"HALF of a round trip; best of " + std::to_string(options.repeats) +
                   " turns, and the median of their ratios",
               "verbs: libmlx5, a write and a write of 8 bytes that is polled, posted together",
               "Host: two host threads. Thread: kernels of one thread"});
  const bool prints = chime_my_pe() == 0;
  std::uint64_t signals = 0, flags = 0;
  sweep(table, options, prints, sizes_of(options, kStep), [&](const Options& chosen, Size size) {
    const PingPong run(board, *verbs, size.bytes, chosen.iterations(kIterations));
    Turns turns;
    for (int r = 0; r < chosen.repeats; ++r) {
      const double pair = run.by_verbs(&flags);
      const double host = device_is_cpu() ? run.by_host(&signals) : kNotMeasured;
      turns.take(pair, host, run.by_kernel(&signals));
    }
    return turns.row();
  });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  verbs.reset();
  chime_finalize();
  return written ? 0 : 1;
}
