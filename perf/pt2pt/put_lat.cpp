// put_lat: how long a put and the quiet after it take, from PE 0 to PE 1. Not a round trip.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr unsigned kBlockThreads = 128;

template <class Group>
CHIME_KERNEL void put_and_quiet(chime::Context ctx, std::byte* dst, const std::byte* src,
                                std::size_t bytes, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    chime::putmem(ctx, Group{}, dst, src, bytes, kPeer);
    if (exec::thread_rank() == 0) chime::quiet(ctx);
  }
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

// The loops of the OSU benchmarks.
int iterations_for(std::size_t bytes) { return bytes <= 8192 ? 10'000 : 100; }

template <class Group>
double device_us(unsigned threads, std::byte* dst, const std::byte* src, std::size_t bytes,
                 int iterations) {
  exec::LaunchConfig config;
  config.block = threads;
  return kernel_us(config, put_and_quiet<Group>, chime::context(), dst, src, bytes, iterations) /
         iterations;
}

std::vector<double> measure(const Options& options, std::byte* dst, const std::byte* src,
                            std::size_t bytes) {
  const int iterations = options.iterations(iterations_for(bytes));
  Best host, thread, block, floor;
  for (int r = 0; r < options.repeats; ++r) {
    if (device_is_cpu()) {
      host.take(host_us(iterations, [&] {
        chime_putmem(dst, src, bytes, kPeer);
        chime_quiet();
      }));
      if (void* const mapped = chime_ptr(dst, kPeer))
        floor.take(host_us(iterations, [&] { copy_bytes(mapped, src, bytes); }));
    }
    thread.take(device_us<chime::Thread>(1, dst, src, bytes, iterations));
    block.take(device_us<chime::Block>(kBlockThreads, dst, src, bytes, iterations));
  }
  return {host.value(), thread.value(), block.value(), floor.value()};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Latency of put + quiet from PE 0 to PE 1", true);
  chime_init();
  need_pes(2, "put_lat");
  auto* const dst = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const src = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const end = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  bool written = true;
  if (chime_my_pe() == 0) {
    Table table("put latency", "Size", {"Host (us)", "Thread (us)", "Block (us)", "memcpy (us)"},
                {"put + quiet, one way, not a round trip; best of " +
                     std::to_string(options.repeats) + " repeats",
                 "Host: a host thread. Thread, Block: one thread, one block of " +
                     std::to_string(kBlockThreads) + " threads of a kernel",
                 "memcpy: the floor, to the same memory, in turns with the rest"});
    sweep(table, options, true, sizes_of(options),
          [&](const Options& chosen, Size size) { return measure(chosen, dst, src, size.bytes); });
    written = table.write_json(options.json);
  }
  end_together(end);
  chime_finalize();
  return written ? 0 : 1;
}
