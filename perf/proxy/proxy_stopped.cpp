// proxy_stopped: the time of gets from PE 1 while PE 2 is stopped and others wait for it, beside
// the same gets while nothing waits for a peer. Gets of a kernel, beside as many of another block
// as a FIFO has slots; and of a host thread, beside one of another thread. Ten times as many as a
// FIFO has slots, each timed separately.
#include <chime/chime.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "median.hpp"
#include "options.hpp"
#include "pair.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kPes = 3, kHealthy = 1, kStopped = 2;
constexpr int kFifoSlots = 1024;  // CHIME_PROXY_DEPTH's default
constexpr int kGets = 10 * kFifoSlots;
constexpr int kRepeats = 11;
constexpr std::size_t kMostBytes = 64 << 10;
const std::vector<Size> kSizes{{8}, {4 << 10}, {kMostBytes}};

// Symmetric memory, except for the times.
struct Room {
  std::byte *theirs, *mine, *late;
  std::uint64_t *begun, *done;  // counts of turns
  std::uint64_t* ns;            // of each get
};

// Block 0 has gets in flight from the stopped PE, or waits for a word of its own; block 1 is timed.
CHIME_KERNEL void get_beside(chime::Context ctx, Room room, std::uint64_t turn, int gets,
                             std::size_t bytes, int late_gets) {
  constexpr chime::Thread kMe;
  if (exec::block_idx().x == 0) {
    chime::p(ctx, room.begun, turn, chime::my_pe(ctx));
    for (int i = 0; i < late_gets; ++i)
      chime::getmem_nbi(ctx, kMe, room.late, room.theirs, sizeof(std::uint64_t), kStopped);
    if (late_gets > 0) chime::quiet(ctx);
    chime::wait_until(ctx, room.done, chime::Cmp::kGe, turn);
    return;
  }
  chime::wait_until(ctx, room.begun, chime::Cmp::kGe, turn);
  for (int i = 0; i < gets; ++i) {
    const std::uint64_t start = exec::clock_ns();
    chime::getmem(ctx, kMe, room.mine, room.theirs, bytes, kHealthy);
    room.ns[i] = exec::clock_ns() - start;
  }
  chime::p(ctx, room.done, turn, chime::my_pe(ctx));
}

// A process of this machine that is stopped while this object lives.
class Stopped {
 public:
  explicit Stopped(pid_t process) : process_(process) {
    kill(process, SIGSTOP);
    wait_giving_way("stop of PE 2", [&] { return state() == 'T'; });
  }
  ~Stopped() { kill(process_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  // After the name, which is in parentheses (proc(5)).
  char state() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto behind = text.rfind(") ");
    return behind == std::string::npos ? '?' : text[behind + 2];
  }

  const pid_t process_;
};

enum class Peer { kAnswers, kStands };

class Bench {
 public:
  Bench() {
    const auto take = [](std::size_t bytes) {
      return static_cast<std::byte*>(chime_calloc(1, bytes));
    };
    const auto word = [&] { return reinterpret_cast<std::uint64_t*>(take(sizeof(std::uint64_t))); };
    void* ns = nullptr;
    if (exec::device_malloc(&ns, kGets * sizeof(std::uint64_t)) != CHIMEX_OK) std::abort();
    room_ = {take(kMostBytes), take(kMostBytes), take(kMostBytes),
             word(),           word(),           static_cast<std::uint64_t*>(ns)};
    auto* const processes = reinterpret_cast<std::int64_t*>(take(kPes * sizeof(std::int64_t)));
    chime_int64_p(processes + chime_my_pe(), getpid(), 0);
    chime_barrier_all();
    if (chime_my_pe() == 0) late_ = static_cast<pid_t>(chime_int64_g(processes + kStopped, 0));
  }

  // Microseconds of each get.
  std::vector<double> by_kernel(Peer peer, int gets, std::size_t bytes) {
    const std::uint64_t turn = ++turns_;
    std::vector<std::uint64_t> ns(static_cast<std::size_t>(gets));
    {
      const auto stopped = stop_if(peer);
      const exec::LaunchConfig two_blocks{.grid = exec::dim3(2), .block = exec::dim3(1)};
      if (exec::launch(two_blocks, get_beside, chime::context(), room_, turn, gets, bytes,
                       peer == Peer::kStands ? kFifoSlots : 0) != CHIMEX_OK)
        throw std::runtime_error("the kernel could not be launched");
      while (chime_signal_fetch(room_.done) < turn)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (exec::stream_synchronize(nullptr) != CHIMEX_OK ||
        exec::copy(ns.data(), room_.ns, ns.size() * sizeof ns[0]) != CHIMEX_OK)
      throw std::runtime_error("the kernel could not run");
    std::vector<double> us;
    for (const std::uint64_t each : ns) us.push_back(static_cast<double>(each) / 1000);
    return us;
  }

  std::vector<double> by_host(Peer peer, int gets, std::size_t bytes) {
    const std::uint64_t turn = ++turns_;
    std::vector<double> us(static_cast<std::size_t>(gets));
    std::thread other;
    {
      const auto stopped = stop_if(peer);
      other = std::thread([this, peer, turn] { wait_for(peer, turn); });
      while (chime_signal_fetch(room_.begun) < turn) std::this_thread::yield();
      for (double& each : us)
        each = host_us(1, [&] { chime_getmem(room_.mine, room_.theirs, bytes, kHealthy); });
      chime_uint64_p(room_.done, turn, 0);
    }
    other.join();
    return us;
  }

 private:
  std::unique_ptr<Stopped> stop_if(Peer peer) const {
    return peer == Peer::kStands ? std::make_unique<Stopped>(late_) : nullptr;
  }
  // Called by a second thread of the host: waits for the stopped PE, or for a word of its own.
  void wait_for(Peer peer, std::uint64_t turn) const {
    chime_uint64_p(room_.begun, turn, 0);
    if (peer == Peer::kStands) chime_getmem(room_.late, room_.theirs, sizeof turn, kStopped);
    chime_uint64_wait_until(room_.done, CHIME_CMP_GE, turn);
  }

  Room room_{};
  pid_t late_ = 0;
  std::uint64_t turns_ = 0;
};

double share_above(double limit, const std::vector<double>& all) {
  const auto above =
      std::count_if(all.begin(), all.end(), [limit](double one) { return one > limit; });
  return 100.0 * static_cast<double>(above) / static_cast<double>(all.size());
}

// In turns without and with the stopped PE. Both shares are those of gets above twice the median
// without it.
template <class Gets>
void measure(const Options& options, AloneAtPe0& alone, const Gets& gets,
             std::vector<double>& figures) {
  std::vector<double> withouts, withs, ratios, above_without, above_with;
  for (int r = 0; r < options.repeats; ++r) {
    alone([&] {
      const std::vector<double> without = gets(Peer::kAnswers), with = gets(Peer::kStands);
      const double usual = median(without);
      withouts.push_back(usual);
      withs.push_back(median(with));
      ratios.push_back(withs.back() / usual);
      above_without.push_back(share_above(2 * usual, without));
      above_with.push_back(share_above(2 * usual, with));
      return usual;
    });
  }
  if (withouts.empty()) return;
  for (const auto& column : {withouts, withs, ratios, above_without, above_with})
    figures.push_back(median(column));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Gets from one PE by the proxy while another is stopped", false);
  chime_init();
  need_pes(kPes, "proxy_stopped");
  need_proxy_path("proxy_stopped");
  Bench bench;
  AloneAtPe0 alone;
  Table table("gets from PE 1 by the proxy while PE 2 is stopped", "Size",
              {"kernel (us)", "stopped (us)", "ratio", "> 2x (%)", "stopped (%)", "host (us)",
               "stopped (us)", "ratio", "> 2x (%)", "stopped (%)"},
              {"median of " + std::to_string(options.iterations(kGets)) +
                   " gets, each timed for itself; of each column the median of " +
                   std::to_string(options.repeats) + " turns",
               "stopped: PE 2 stands still, and " + std::to_string(kFifoSlots) +
                   " gets of another block, or one of another host thread, wait for it",
               "> 2x: share of gets that take more than twice the median without the stopped PE; "
               "without it and with it"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, kSizes, [&](const Options& chosen, Size size) {
    const int gets = chosen.iterations(kGets);
    std::vector<double> figures;
    measure(
        chosen, alone, [&](Peer peer) { return bench.by_kernel(peer, gets, size.bytes); }, figures);
    measure(
        chosen, alone, [&](Peer peer) { return bench.by_host(peer, gets, size.bytes); }, figures);
    return figures;
  });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  chime_finalize();
  return written ? 0 : 1;
}
