// nic_put_rate: how many puts of 8 bytes per second go through one queue pair, from PE 0 to PE 1,
// by the number of threads that share it, beside the rate of libmlx5 on the same NIC.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"
#include "verbs_rival.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr unsigned kWarpThreads = 32;
constexpr unsigned kPuts = 1 << 14;  // of all threads together
constexpr std::uint32_t kWindow = 128;

// One block, so one queue. `puts`: of each group; its depth is the window.
template <class Group>
CHIME_KERNEL void put_many(chime::Context ctx, std::uint64_t* dst, const std::uint64_t* src,
                           unsigned puts, std::uint64_t* ns) {
  const Group group;
  const std::uint64_t start = exec::clock_ns();
  const unsigned mine = exec::thread_rank() / group.size();
  for (unsigned i = 0; i < puts; ++i)
    chime::putmem_nbi(ctx, group, dst + mine, src + mine, sizeof *dst, kPeer);
  exec::sync_block();
  if (exec::thread_rank() != 0) return;
  chime::quiet(ctx);
  *ns = exec::clock_ns() - start;
}

struct Arrays {
  std::uint64_t *dst, *src;  // symmetric, one word of each thread
};

// Microseconds of one put, by `groups` groups in a block of `threads` threads.
template <class Group>
double put_us(const Arrays& arrays, unsigned threads, unsigned groups, int all) {
  exec::LaunchConfig config;
  config.block = threads;
  const unsigned puts = (static_cast<unsigned>(all) + groups - 1) / groups;
  return kernel_us(config, put_many<Group>, chime::context(), arrays.dst, arrays.src, puts) /
         (puts * groups);
}

std::vector<double> measure(const Options& options, Endpoint& verbs, const Arrays& arrays,
                            unsigned threads) {
  const int all = options.iterations(kPuts);
  const auto writes = (static_cast<std::uint32_t>(all) / kWindow + 1) * kWindow;
  Best write, thread, warp, block;
  for (int r = 0; r < options.repeats; ++r) {
    write.take(host_us(1, [&] { verbs.write_windowed(8, writes, kWindow); }) / writes);
    thread.take(put_us<chime::Thread>(arrays, threads, threads, all));
    if (threads % kWarpThreads == 0)
      warp.take(put_us<chime::Warp>(arrays, threads, threads / kWarpThreads, all));
    block.take(put_us<chime::Block>(arrays, threads, 1, all));
  }
  return {1 / write.value(), 1 / thread.value(), 1 / warp.value(), 1 / block.value(),
          write.value() / thread.value()};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr unsigned kMostThreads = 256;
  Options options;
  parse(options, argc, argv, "Rate of puts through the NIC, from PE 0 to PE 1", false);
  chime_init();
  need_pes(2, "nic_put_rate");
  need_nic_path("nic_put_rate");
  const Arrays arrays = {
      static_cast<std::uint64_t*>(chime_calloc(kMostThreads, sizeof(std::uint64_t))),
      static_cast<std::uint64_t*>(chime_calloc(kMostThreads, sizeof(std::uint64_t)))};
  auto* const end = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  auto verbs = connect_by_verbs(sizeof(std::uint64_t));
  bool written = true;
  if (chime_my_pe() == 0) {
    Table table("put rate through the NIC", "Threads",
                {"verbs (M/s)", "Thread (M/s)", "Warp (M/s)", "Block (M/s)", "Thread/verbs"},
                {"puts of 8 bytes through one queue pair, by the threads of the block that shares "
                 "it; best of " +
                     std::to_string(options.repeats) + " repeats, in turns",
                 "verbs: the NIC's limit, windows of " + std::to_string(kWindow) +
                     " writes by libmlx5, one host thread",
                 "Thread: every thread puts. Warp, Block: every warp, the block does"});
    const std::vector<std::size_t> rows = {1, 2, 8, 32, 64, kMostThreads};
    sweep(table, options, true, rows, [&](const Options& chosen, std::size_t threads) {
      return measure(chosen, *verbs, arrays, static_cast<unsigned>(threads));
    });
    written = table.write_json(options.json);
  }
  end_together(end);
  verbs.reset();
  chime_finalize();
  return written ? 0 : 1;
}
