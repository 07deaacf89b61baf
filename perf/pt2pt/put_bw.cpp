// put_bw: bandwidth of puts from PE 0 to PE 1: windows of 64 puts, a quiet after each window.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr int kWindow = 64;
constexpr unsigned kBlockThreads = 128;
constexpr std::size_t kBytesPerRepeat = 64 << 20;  // enough to time, little enough to repeat
constexpr int kMostWindows = 100;

template <class Group>
CHIME_KERNEL void put_windows(chime::Context ctx, std::byte* dst, const std::byte* src,
                              std::size_t bytes, int windows, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < kWindow; ++i) chime::putmem_nbi(ctx, Group{}, dst, src, bytes, kPeer);
    Group::sync();
    if (exec::thread_rank() == 0) chime::quiet(ctx);
  }
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

int windows_for(std::size_t bytes) {
  const std::size_t windows = kBytesPerRepeat / (bytes * kWindow);
  return static_cast<int>(std::clamp<std::size_t>(windows, 1, kMostWindows));
}

// 10^6 bytes per second, from the microseconds of a window.
double megabytes_per_s(std::size_t bytes, double window_us) {
  return static_cast<double>(bytes) * kWindow / window_us;
}

template <class Group>
double device_us(unsigned threads, std::byte* dst, const std::byte* src, std::size_t bytes,
                 int windows) {
  exec::LaunchConfig config;
  config.block = threads;
  return kernel_us(config, put_windows<Group>, chime::context(), dst, src, bytes, windows) /
         windows;
}

std::vector<double> measure(const Options& options, std::byte* dst, const std::byte* src,
                            std::size_t bytes) {
  const int windows = options.iterations(windows_for(bytes));
  Best host, thread, block, floor;
  for (int r = 0; r < options.repeats; ++r) {
    if (device_is_cpu()) {
      host.take(host_us(windows, [&] {
        for (int i = 0; i < kWindow; ++i) chime_putmem_nbi(dst, src, bytes, kPeer);
        chime_quiet();
      }));
      if (void* const mapped = chime_ptr(dst, kPeer))
        floor.take(host_us(windows, [&] {
          for (int i = 0; i < kWindow; ++i) copy_bytes(mapped, src, bytes);
        }));
    }
    thread.take(device_us<chime::Thread>(1, dst, src, bytes, windows));
    block.take(device_us<chime::Block>(kBlockThreads, dst, src, bytes, windows));
  }
  const auto rate = [&](const Best& us) { return megabytes_per_s(bytes, us.value()); };
  return {rate(host), rate(thread), rate(block), rate(floor), rate(host) / rate(floor)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Bandwidth of put from PE 0 to PE 1", true);
  chime_init();
  need_pes(2, "put_bw");
  auto* const dst = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const src = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const end = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  bool written = true;
  if (chime_my_pe() == 0) {
    Table table("put bandwidth", "Size",
                {"Host (MB/s)", "Thread (MB/s)", "Block (MB/s)", "memcpy (MB/s)", "Host/memcpy"},
                {"one way, windows of " + std::to_string(kWindow) +
                     " put_nbi + quiet, 10^6 bytes per second; best of " +
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
