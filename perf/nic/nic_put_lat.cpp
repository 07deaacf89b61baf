// nic_put_lat: how long a put through the NIC and the quiet after it take, from PE 0 to PE 1,
// beside a write that libmlx5 posts to the same NIC. Not a round trip.
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

constexpr int kPeer = 1;
constexpr int kIterations = 200;  // short loops, so that some have their cores to themselves
constexpr int kRepeats = 101;
constexpr std::size_t kStep = 8;  // from one size to the next

CHIME_KERNEL void put_and_quiet(chime::Context ctx, std::byte* dst, const std::byte* src,
                                std::size_t bytes, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    chime::putmem(ctx, chime::Thread{}, dst, src, bytes, kPeer);
    chime::quiet(ctx);
  }
  *ns = exec::clock_ns() - start;
}

std::vector<double> measure(const Options& options, Endpoint& verbs, std::byte* dst,
                            const std::byte* src, std::size_t bytes) {
  const int iterations = options.iterations(kIterations);
  Turns turns;
  for (int r = 0; r < options.repeats; ++r) {
    const double write =
        host_us(iterations, [&] { verbs.write_windowed(static_cast<std::uint32_t>(bytes), 1, 1); });
    double host = kNotMeasured;
    if (device_is_cpu()) {
      host = host_us(iterations, [&] {
        chime_putmem(dst, src, bytes, kPeer);
        chime_quiet();
      });
    }
    turns.take(
        write, host,
        kernel_us({}, put_and_quiet, chime::context(), dst, src, bytes, iterations) / iterations);
  }
  return turns.row();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 64 << 10;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Latency of put + quiet through the NIC, from PE 0 to PE 1", true);
  chime_init();
  need_pes(2, "nic_put_lat");
  need_nic_path("nic_put_lat");
  auto* const dst = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const src = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const end = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  auto verbs = connect_by_verbs(options.max_bytes);
  bool written = true;
  if (chime_my_pe() == 0) {
    Table table("put latency through the NIC", "Size", Turns::columns(),
                {"put + quiet, one way, not a round trip; best of " +
                     std::to_string(options.repeats) + " turns, and the median of their ratios",
                 "verbs: a write by libmlx5 to the same PE, from its post to its completion",
                 "Host: a host thread. Thread: a kernel of one thread"});
    sweep(table, options, true, sizes_of(options, kStep), [&](const Options& chosen, Size size) {
      return measure(chosen, *verbs, dst, src, size.bytes);
    });
    written = table.write_json(options.json);
  }
  end_together(end);
  verbs.reset();
  chime_finalize();
  return written ? 0 : 1;
}
