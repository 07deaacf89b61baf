// Runs the PTX of perf/device_cost/kernels/chime.cu and counts its instructions: a line of JSON for
// each call, by the NIC in a thread (tests/unit/nic/null_nic.hpp), and to a mapped peer.
//
//   softgpu_run_calls <kernels.ptx> [kernel...]      default: all
//
// A call finds room in the queue, its turn, and no other thread; its queue was used before. Calls
// that wait for the NIC (fetch_add) poll for as long as the NIC takes: of several runs the one with
// the fewest instructions counts.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "nic_job.hpp"
#include "softgpu/ptx/module.hpp"
#include "tests/softgpu/ptx/run_kernel.hpp"

namespace chime::tests {
namespace {

using softgpu::Kernel;
using softgpu::LaunchCounts;

constexpr std::uint64_t kBytes = 4096;
constexpr int kPeer = 1, kRuns = 12, kRunsOfWaits = 300;

struct Counted {
  std::uint64_t instructions;
  std::string forms;
};

// The kernels, with the Context that the program fills in their translation unit on a GPU.
class Calls {
 public:
  explicit Calls(const char* file) : module_(text_of(file)) {
    for (const softgpu::ptx::Variable& v : module_.text().variables) {
      if (v.name.find("chime_kernel_state") != v.name.npos) context_ = module_.variable(v.name);
    }
    if (context_ == nullptr) throw std::runtime_error("the kernels have no Context");
  }
  Calls(const Calls&) = delete;

  template <class... A>
  Counted run(const Context& context, const std::string& name, unsigned threads, A... arguments) {
    std::memcpy(context_, &context, sizeof context);
    Kernel* const kernel = module_.find(name);
    if (kernel == nullptr) throw std::runtime_error("no kernel " + name);
    kernel->code({.counting = true});
    LaunchCounts counts(*kernel);
    softgpu::tests::run_counted(*kernel, {.threads = threads, .counting = true}, &counts,
                                arguments...);
    return {counts.instructions(), counts.forms_as_json()};
  }

 private:
  static std::string text_of(const char* file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(std::string("cannot read ") + file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  softgpu::Module module_;
  void* context_ = nullptr;
};

using Call = std::function<Counted(Calls&, NicJob&)>;

struct Row {
  const char* kernel;
  unsigned threads;
  Call call;
  int runs = kRuns;
};

template <class T>
T* at(NicJob& job, std::size_t offset) {
  return job.data<T>(0, offset);
}
// The symmetric addresses of the destination, the source, and a signal.
std::uint64_t* to(NicJob& job) { return at<std::uint64_t>(job, 2 * kBytes); }
const std::uint64_t* from(NicJob& job) { return at<std::uint64_t>(job, 4 * kBytes); }
std::uint64_t* signal_of(NicJob& job) { return at<std::uint64_t>(job, kBytes); }

Call put_signal(const char* name, unsigned threads) {
  return [=](Calls& calls, NicJob& job) {
    return calls.run(job.context(), name, threads, static_cast<void*>(to(job)),
                     static_cast<const void*>(from(job)), kBytes, signal_of(job), std::uint64_t{1},
                     kPeer);
  };
}
Call put_words(const char* name, unsigned threads) {
  return [=](Calls& calls, NicJob& job) {
    return calls.run(job.context(), name, threads, to(job), from(job), kPeer);
  };
}
Call put_bytes(const char* name, unsigned threads) {
  return [=](Calls& calls, NicJob& job) {
    return calls.run(job.context(), name, threads, static_cast<void*>(to(job)),
                     static_cast<const void*>(from(job)), kBytes, kPeer);
  };
}
Counted put_word(Calls& calls, NicJob& job) {
  return calls.run(job.context(), "p", 1, to(job), std::uint64_t{5}, kPeer);
}
Counted fetch_add(Calls& calls, NicJob& job) {
  return calls.run(job.context(), "fetch_add", 1, to(job), std::uint64_t{1}, kPeer,
                   at<std::uint64_t>(job, 0));
}

unsigned completions(NicJob& job) { return job.nic.counts(kPeer).completions; }

// One queue in use; its last request is complete, but no thread has noted that yet.
Counted quiet(Calls& calls, NicJob& job) {
  const unsigned before = completions(job);
  put_word(calls, job);
  const bool is_mapped = job.context().pe.peer_heap[kPeer] != nullptr;
  for (int i = 0; !is_mapped && completions(job) == before && i < 20'000; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return calls.run(job.context(), "quiet", 1);
}

const Row kRows[] = {{"p", 1, put_word},
                     {"put_64", 1, put_words("put_64", 1)},
                     {"put_64_block", 32, put_words("put_64_block", 32)},
                     {"put", 1, put_bytes("put", 1)},
                     {"put_block", 32, put_bytes("put_block", 32)},
                     {"put_signal_set", 1, put_signal("put_signal_set", 1)},
                     {"put_signal_set_block", 32, put_signal("put_signal_set_block", 32)},
                     {"put_signal_add", 1, put_signal("put_signal_add", 1)},
                     {"put_signal_add_block", 32, put_signal("put_signal_add_block", 32)},
                     {"fetch_add", 1, fetch_add, kRunsOfWaits},
                     {"quiet", 1, quiet}};

struct Way {
  const char* path;
  const char* mode;
  bool is_mapped;
};
constexpr Way kWays[] = {{"nic", "gpu", false}, {"p2p", "-", true}};

// The first posts of a queue cost more than later ones. Between runs everything is complete.
Counted fewest(Calls& calls, const Way& way, const Row& row) {
  NicJob job(2);
  if (way.is_mapped) job.job.map(kPeer);
  std::optional<Counted> best;
  for (int run = 0; run < row.runs; ++run) {
    Counted counted = row.call(calls, job);
    run_threads(1, [&] { job.quiet(); });
    if (run > 1 && (!best || counted.instructions < best->instructions)) best = std::move(counted);
  }
  return *best;
}

// Runs each call by every path; prints a line each.
void run_all(const char* kernels, const std::set<std::string>& wanted) {
  Calls calls(kernels);
  for (const Way& way : kWays) {
    for (const Row& row : kRows) {
      if (!wanted.empty() && !wanted.contains(row.kernel)) continue;
      const Counted counted = fewest(calls, way, row);
      std::printf(
          "{\"kernel\": \"%s\", \"path\": \"%s\", \"mode\": \"%s\", \"threads\": %u, "
          "\"instructions\": %llu, \"forms\": %s}\n",
          row.kernel, way.path, way.mode, row.threads,
          static_cast<unsigned long long>(counted.instructions), counted.forms.c_str());
    }
  }
}

}  // namespace
}  // namespace chime::tests

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: softgpu_run_calls <kernels.ptx> [kernel...]\n");
    return 2;
  }
  try {
    chime::tests::run_all(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softgpu_run_calls: %s\n", error.what());
    return 1;
  }
  return testing::Test::HasFailure() ? 1 : 0;
}
