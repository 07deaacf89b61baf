// fifo_traffic: whether host threads, other blocks and other programs starve a kernel that uses the
// proxy's FIFOs, and whether everything that was sent arrives: once, complete and in order. The
// fabric is a stand-in, so faults of the proxy's thread and of the fabric can be planted;
// perf/mixed_traffic has real paths.
//
// A block probes, one dependent operation after the other; others and a host thread send as much as
// they can; threads of low priority keep all processors busy.
#include <chime/chime.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "checking_fabric.hpp"
#include "proxy_job.hpp"

namespace {

using namespace chime::perf;
using namespace chime;

constexpr unsigned kFlooders = 2, kProbe = kFlooders;  // blocks; their numbers are their sources
constexpr std::size_t kHostSource = kFlooders + 1;
constexpr int kPinnedBurners = 64;  // each runs for a millisecond or more before the next may

struct Options {
  double seconds = 10;
  int tries = 3;
  Planted fault = Planted::kNone;
};

// The data that kernels and host threads share with main.
struct Board {
  std::uint64_t until_ns = 0;
  std::uint64_t slice_ns = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t* sent = nullptr;    // by source
  std::uint64_t* slices = nullptr;  // probes that ended in each
  std::uint64_t* worst_ns = nullptr;
  bool floods = false;
};

// Message `number` of `source`: a reader that sees the number also sees the data.
CHIME_DEVICE void send_numbered(const Context& ctx, std::uint64_t* words, std::size_t source,
                                std::uint64_t number, int pe) {
  std::uint64_t* const data = words + Places::data(source, number);
  *data = payload(source, number);
  putmem_signal_nbi(ctx, Thread{}, data, data, sizeof *data,
                    {words + Places::signal(source), number}, pe);
}

CHIME_KERNEL void traffic(Context ctx, std::uint64_t* words, Board board) {
  const std::size_t source = exec::block_idx().x;
  const int pe = CheckingFabric::kOfKernels;
  std::uint64_t number = board.sent[source], worst = 0;
  if (source != kProbe && !board.floods) return;
  for (std::uint64_t now = exec::clock_ns(); now < board.until_ns;) {
    send_numbered(ctx, words, source, ++number, pe);
    if (source == kProbe) {
      atomic_fetch_add(ctx, words + Places::sum(source), std::uint64_t{1},
                       pe);  // returns when it is there
      const std::uint64_t end = exec::clock_ns();
      worst = std::max(worst, end - now);
      ++board.slices[(std::min(end, board.until_ns - 1) - board.start_ns) / board.slice_ns];
      now = end;
    } else {
      atomic_add(ctx, words + Places::sum(source), std::uint64_t{1}, pe);
      now = exec::clock_ns();
    }
  }
  if (source == kProbe) *board.worst_ns = worst;
  board.sent[source] = number;
}

// Threads that only compute, until this object is destroyed.
class Burners {
 public:
  Burners(int count, std::optional<int> cpu) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, cpu] {
        if (cpu) {
          cpu_set_t set;
          CPU_ZERO(&set);
          CPU_SET(*cpu, &set);
          pthread_setaffinity_np(pthread_self(), sizeof set, &set);
        } else {
          setpriority(PRIO_PROCESS, 0, 19);  // of this thread alone
        }
        while (!is_over_) {
        }
      });
  }
  ~Burners() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

struct Figures {
  double probes_per_s = 0, empty_share = 0, worst_ms = 0;
};

class Try {
 public:
  explicit Try(const Options& options)
      : fault_(options.fault),
        job_(std::make_unique<CheckingFabric>(arrivals_, options.fault), CheckingFabric::kPes,
             Places::kWords * sizeof(std::uint64_t), proxy_options(options.fault)) {}

  Figures run(double seconds, bool with_load) {
    const auto slice_ns = static_cast<std::uint64_t>(slice_ms() * 1e6);
    const auto total = static_cast<std::uint64_t>(seconds * 1e9);
    std::vector<std::uint64_t> slices(total / slice_ns + 1);
    std::uint64_t worst = 0;
    Board board{.slice_ns = slice_ns,
                .sent = sent_.data(),
                .slices = slices.data(),
                .worst_ns = &worst,
                .floods = with_load};
    std::optional<Burners> burners;
    if (with_load) burners.emplace(processors(), std::nullopt);
    std::optional<Burners> pinned;
    if (with_load && fault_ == Planted::kPinned) pinned.emplace(kPinnedBurners, 0);
    board.start_ns = exec::clock_ns();
    board.until_ns = board.start_ns + total;
    std::optional<std::thread> host;
    if (with_load) host.emplace([&] { send_from_host(board.until_ns); });
    launch(board);
    if (host) host->join();
    std::size_t empty = 0;
    for (std::size_t i = 1; i + 2 < slices.size(); ++i) empty += slices[i] == 0;
    std::uint64_t probes = 0;
    for (const std::uint64_t of_slice : slices) probes += of_slice;
    return {static_cast<double>(probes) / seconds,
            static_cast<double>(empty) /
                static_cast<double>(std::max<std::size_t>(slices.size() - 3, 1)),
            static_cast<double>(worst) / 1e6};
  }

  // Empty, or the error in what arrived.
  std::string check() {
    quiet(job_.context(host::ContextOwner::kKernels));
    quiet(job_.context(host::ContextOwner::kHost));
    if (!arrivals_.complaint.empty()) return arrivals_.complaint;
    for (std::size_t source = 0; source <= kHostSource; ++source) {
      const auto differs = [&](const char* what, std::uint64_t got) {
        return "source " + std::to_string(source) + " sent " + std::to_string(sent_[source]) + " " +
               what + ", and " + std::to_string(got) + " came";
      };
      if (arrivals_.numbers[source] != sent_[source])
        return differs("messages", arrivals_.numbers[source]);
      if (arrivals_.sums[source] != sent_[source])
        return differs("additions", arrivals_.sums[source]);
    }
    return "";
  }

  std::uint64_t sent() const {
    std::uint64_t all = 0;
    for (const std::uint64_t of_source : sent_) all += of_source;
    return all;
  }

  // Ten milliseconds, times the number of busy threads on a processor.
  static double slice_ms() {
    const int threads = static_cast<int>(kFlooders) + 1 /* host */ + 1 /* probe */ + 1 /* proxy */;
    return 10.0 * ((threads + processors() - 1) / processors());
  }

 private:
  static int processors() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  static ProxyOptions proxy_options(Planted fault) {
    ProxyOptions options;
    options.depth = 16384;
    if (fault == Planted::kPinned) options.cpu = 0;
    return options;
  }

  void launch(const Board& board) {
    const exec::LaunchConfig config{.grid = exec::dim3(kFlooders + 1), .block = exec::dim3(1)};
    if (exec::launch(config, traffic, job_.context(host::ContextOwner::kKernels), job_.words(),
                     board) == CHIMEX_OK &&
        exec::stream_synchronize(nullptr) == CHIMEX_OK)
      return;
    std::fprintf(stderr, "a kernel could not run: %s\n", exec::last_error());
    std::exit(1);
  }
  void send_from_host(std::uint64_t until_ns) {
    const Context ctx = job_.context(host::ContextOwner::kHost);
    while (exec::clock_ns() < until_ns) {
      arrivals_.host_wants += 3;  // data, signal, addition
      send_numbered(ctx, job_.words(), kHostSource, ++sent_[kHostSource], CheckingFabric::kOfHost);
      atomic_add(ctx, job_.words() + Places::sum(kHostSource), std::uint64_t{1},
                 CheckingFabric::kOfHost);
    }
  }

  const Planted fault_;
  Arrivals arrivals_;
  std::array<std::uint64_t, Places::kSources> sent_{};
  ProxyJob job_;  // last: its thread uses all of the above
};

constexpr double kMostEmpty = 0.02;  // slices without a probe

// Arriving messages must be right in every try. That nothing starves must hold in one of them:
// other work on the machine can only worsen the result.
bool run_tries(const Options& options) {
  bool is_fair = false;
  std::printf(
      "# Chime mixed traffic through the proxy\n# %d blocks and a host thread send, one block "
      "probes; slices of %.0f ms\n# %-18s%18s%18s%18s%18s%18s\n",
      static_cast<int>(kFlooders), Try::slice_ms(), "try", "alone (probes/s)", "loaded (probes/s)",
      "empty slices (%)", "worst (ms)", "after (probes/s)");
  for (int number = 1; number <= options.tries && !is_fair; ++number) {
    Try one(options);
    const Figures alone = one.run(options.seconds / 4, false),
                  loaded = one.run(options.seconds, true),
                  after = one.run(options.seconds / 4, false);
    std::printf("%-20d%18.0f%18.0f%18.1f%18.2f%18.0f\n", number, alone.probes_per_s,
                loaded.probes_per_s, 100 * loaded.empty_share, loaded.worst_ms, after.probes_per_s);
    std::fflush(stdout);
    if (const std::string wrong = one.check(); !wrong.empty()) {
      std::printf("FAILED: %s\n", wrong.c_str());
      return false;
    }
    is_fair = alone.empty_share <= kMostEmpty && loaded.empty_share <= kMostEmpty;
    std::printf("# %llu messages, each once, whole and in order\n",
                static_cast<unsigned long long>(one.sent()));
  }
  if (!is_fair)
    std::printf("FAILED: more than %.0f %% of the slices had no probe: the kernel starves\n",
                100 * kMostEmpty);
  return is_fair;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const std::map<std::string, Planted> faults = {
      {"none", Planted::kNone},   {"host-first", Planted::kHostFirst},
      {"sleep", Planted::kSleep}, {"pinned", Planted::kPinned},
      {"lose", Planted::kLose},   {"double", Planted::kDouble},
      {"swap", Planted::kSwap},   {"tear", Planted::kTear}};
  CLI::App app("Whether other traffic starves a kernel that talks through the proxy");
  app.add_option("--seconds", options.seconds, "under load, each try")->capture_default_str();
  app.add_option("--tries", options.tries, "at most; one without starving is enough")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--fault", options.fault, "planted: the program must then fail")
      ->transform(CLI::CheckedTransformer(faults));
  CLI11_PARSE(app, argc, argv);
  return run_tries(options) ? 0 : 1;
}
