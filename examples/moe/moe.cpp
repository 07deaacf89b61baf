// A layer of experts: each token goes to some of them, on any PE, and its answers come back and are
// added. The main program: options, runs, the answer of one PE, and a report.
#include <chime/chime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "buffers.hpp"
#include "by_alltoallv.hpp"
#ifdef MOE_HAS_MPI
#include "by_mpi.hpp"
#endif
#include "in_kernel.hpp"
#include "routing.hpp"

namespace moe {
namespace {

struct Options {
  int tokens = 64, dim = 128, experts = 4, top = 2, skew = 0, iterations = 20;
  int blocks = 0, threads = 0;  // 0: as the device likes
  std::string by = "device";
  bool half = false, validate = false, json = false;
};

const char kUsage[] =
    "usage: moe [--tokens N] [--dim N] [--experts N] [--top N] [--skew PERCENT] [--iterations N]\n"
    "           [--blocks N] [--threads N] [--by device|stream|host|mpi] [--half] [--validate]\n"
    "           [--json]\n"
    "Tokens and experts are those of a PE. --top: experts that a token goes to. --skew: so many\n"
    "percent of the tokens want the first expert. --half: elements of 2 bytes. --by mpi: moe_mpi\n"
    "alone, under mpirun.\n";

bool is_offered(const std::string& by) {
#ifdef MOE_HAS_MPI
  if (by == "mpi") return true;
#endif
  return by == "device" || by == "stream" || by == "host";
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    bool* const flag = name == "--half"       ? &options->half
                       : name == "--validate" ? &options->validate
                       : name == "--json"     ? &options->json
                                              : nullptr;
    if (flag != nullptr) {
      *flag = true;
      continue;
    }
    if (++i == argc) return false;
    if (name == "--by") {
      options->by = argv[i];
      if (!is_offered(options->by)) return false;
      continue;
    }
    int* const value = name == "--tokens"       ? &options->tokens
                       : name == "--dim"        ? &options->dim
                       : name == "--experts"    ? &options->experts
                       : name == "--top"        ? &options->top
                       : name == "--skew"       ? &options->skew
                       : name == "--iterations" ? &options->iterations
                       : name == "--blocks"     ? &options->blocks
                       : name == "--threads"    ? &options->threads
                                                : nullptr;
    char* end = nullptr;
    const long number = std::strtol(argv[i], &end, 10);
    if (value == nullptr || end == argv[i] || *end != '\0') return false;
    if (number < (value == &options->skew ? 0 : 1) || number > 65536) return false;
    *value = static_cast<int>(number);
  }
  return options->skew <= 100;
}

// ---- The answer of one PE -----------------------------------------------------------------------

template <class T>
float expected(const Shape& shape, int me, int token, int i, int iteration) {
  const auto at = [&](int j) { return static_cast<float>(static_cast<T>(element(me, token, j))); };
  const float here = at(i), next = at((i + 1) % shape.dim);
  float sum = 0;
  for (int item = token * shape.top; item < (token + 1) * shape.top; ++item) {
    const T got =
        static_cast<T>(answer(expert_of(shape, me, item, iteration), iteration, here, next));
    sum += weight_of(shape, item) * static_cast<float>(got);
  }
  return sum;
}

// Answers are exact, their sum is not.
template <class T>
void validate(const Layer<T>& layer, int iteration) {
  const Shape& shape = layer.shape;
  std::vector<float> out(static_cast<std::size_t>(shape.tokens) * static_cast<unsigned>(shape.dim));
  must(exec::copy(out.data(), layer.out, out.size() * sizeof(float)), "reading answers");
  const float tolerance = 1e-5f;
  for (int token = 0; token < shape.tokens; ++token)
    for (int i = 0; i < shape.dim; ++i) {
      const float got = out[static_cast<std::size_t>(token) * static_cast<unsigned>(shape.dim) +
                            static_cast<unsigned>(i)];
      const float wanted = expected<T>(shape, layer.me, token, i, iteration);
      if (std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted))) continue;
      fail("iteration " + std::to_string(iteration) + ", token " + std::to_string(token) +
           ", element " + std::to_string(i) + " is " + std::to_string(got) + ", and not " +
           std::to_string(wanted));
    }
}

// ---- Runs ---------------------------------------------------------------------------------------

// A CPU runs the threads of a block in turns, and has few cores for blocks.
exec::LaunchConfig shape_of_kernels(const Options& options, exec::Stream stream) {
  exec::DeviceProps props;
  must(exec::device_props(0, &props), "asking for the device");
  const unsigned blocks = props.is_cpu ? 1 : 32, threads = props.is_cpu ? 1 : 128;
  exec::LaunchConfig config;
  config.grid = options.blocks > 0 ? static_cast<unsigned>(options.blocks) : blocks;
  config.block = options.threads > 0 ? static_cast<unsigned>(options.threads) : threads;
  config.stream = stream;
  return config;
}

// A kernel whose wait failed completes, too, but its result is not the answer.
void must_have_worked() {
  chimex_async_error_t error;
  must_call(chimex_get_async_error(&error), "asking for errors");
  if (error.status != CHIMEX_OK) fail(std::string("the kernel gave up: ") + error.message);
}

// `run(iteration)` for all of them: the seconds of one, without the first.
template <class T, class Run>
double repeat(const Options& options, const Layer<T>& layer, exec::Stream stream, Run run) {
  double seconds = 0;
  for (int iteration = 1; iteration <= options.iterations; ++iteration) {
    chime_barrier_all();  // no PE waits for one that checks its answers
    const auto begin = std::chrono::steady_clock::now();
    run(iteration);
    must(exec::stream_synchronize(stream), "running kernels");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (iteration > 1) seconds += took.count();
    must_have_worked();
    if (options.validate) validate(layer, iteration);
  }
  return options.iterations > 1 ? seconds / (options.iterations - 1) : 0;
}

template <class T>
double run_in_kernel(const Options& options, const Layer<T>& layer, exec::Stream stream) {
  const auto experts = static_cast<std::size_t>(layer.shape.all_experts());
  const Counters counters = {
      symmetric<std::uint64_t>(experts),
      symmetric<std::uint64_t>(experts),
      symmetric<std::uint64_t>(static_cast<std::size_t>(layer.shape.n_pes)),
      of_device<std::uint64_t>(experts),
      {of_device<std::uint64_t>(experts), of_device<std::uint64_t>(experts)}};
  const exec::LaunchConfig config = shape_of_kernels(options, stream);
  const double seconds = repeat(options, layer, stream, [&](int iteration) {
    must(chime::collective_launch(config, run_layer<T>, layer, counters, iteration),
         "launching the kernel");
  });
  chime_barrier_all();
  for (std::uint64_t* memory : {counters.sent_to_expert, counters.seen[0], counters.seen[1]})
    exec::device_free(memory);
  for (std::uint64_t* memory : {counters.back, counters.here, counters.told}) chime_free(memory);
  return seconds;
}

template <class T, class Calls>
double repeat_by(const Options& options, const Layer<T>& layer, const Shares& shares,
                 exec::Stream stream, Calls calls) {
  const exec::LaunchConfig config = shape_of_kernels(options, stream);
  return repeat(options, layer, stream,
                [&](int iteration) { run_layer_by(layer, shares, calls, config, iteration); });
}
template <class T>
double repeat_by(const Options& options, const Layer<T>& layer, const Shares& shares,
                 exec::Stream stream) {
#ifdef MOE_HAS_MPI
  if (options.by == "mpi") {
    const Mpi mpi;
    return repeat_by(options, layer, shares, stream, ByMpi(stream, layer.shape, layer.row_bytes()));
  }
#endif
  if (options.by == "host") return repeat_by(options, layer, shares, stream, ByHost{stream});
  return repeat_by(options, layer, shares, stream, OnStream{stream});
}

template <class T>
double run_by_alltoallv(const Options& options, const Layer<T>& layer, exec::Stream stream) {
  const Shares shares = make_all_shares(layer.shape);
  fill_offsets(layer, shares);
  const double seconds = repeat_by(options, layer, shares, stream);
  chime_barrier_all();
  free_shares(shares);
  return seconds;
}

void report(const Options& options, const Shape& shape, double seconds) {
  // Each item's row travels twice.
  const double bytes = 2.0 * shape.n_pes * shape.items() * shape.dim * (options.half ? 2 : 4);
  const double gigabytes = seconds > 0 ? bytes / seconds / 1e9 : 0;
  const char* const type = options.half ? "half" : "float";
  if (options.json) {
    std::printf(
        "{\"program\": \"moe\", \"by\": \"%s\", \"pes\": %d, \"type\": \"%s\", \"tokens\": %d, "
        "\"dim\": %d, \"experts\": %d, \"top\": %d, \"skew\": %d, \"iterations\": %d, "
        "\"seconds\": %.9f, \"gigabytes_per_second\": %.6f, \"validated\": %s}\n",
        options.by.c_str(), shape.n_pes, type, shape.tokens, shape.dim, shape.experts, shape.top,
        shape.skew, options.iterations, seconds, gigabytes, options.validate ? "true" : "false");
    return;
  }
  std::printf(
      "moe by %s: %d PEs, %d tokens of %d %s each, %d of %d experts: %.1f us, %.3f GB/s%s\n",
      options.by.c_str(), shape.n_pes, shape.tokens, shape.dim, type, shape.top,
      shape.all_experts(), seconds * 1e6, gigabytes, options.validate ? ", answers are right" : "");
}

template <class T>
void run(const Options& options, const Shape& shape) {
  const Layer<T> layer = make_layer<T>(shape);
  exec::Stream stream{};
  must(exec::stream_create(&stream), "a stream");
  const double seconds = options.by == "device" ? run_in_kernel(options, layer, stream)
                                                : run_by_alltoallv(options, layer, stream);
  must(exec::stream_destroy(stream), "ending the stream");
  if (layer.me == 0) report(options, shape, seconds);
  free_layer(layer);
}

}  // namespace
}  // namespace moe

int main(int argc, char** argv) {
  moe::Options options;
  if (!moe::parse(argc, argv, &options)) {
    std::fputs(moe::kUsage, stderr);
    return 2;
  }
  chime_init();
  const moe::Shape shape = {chime_n_pes(),   options.tokens, options.dim,
                            options.experts, options.top,    options.skew};
  if (shape.top > shape.all_experts())
    moe::fail("--top " + std::to_string(shape.top) + " is more than the " +
              std::to_string(shape.all_experts()) + " experts of all PEs");
  constexpr long kMost = 1 << 30;
  if (long{shape.tokens} * shape.top * shape.dim > kMost)
    moe::fail("a PE sends more than 2^30 elements: --tokens times --top times --dim");
  if (options.half) {
    moe::run<chime_half_t>(options, shape);
  } else {
    moe::run<float>(options, shape);
  }
  chime_finalize();
  return 0;
}
