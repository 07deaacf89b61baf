// Data-parallel training: each PE has samples, all have the same weights, and the sum of all PEs'
// gradients changes them. The gradient has two halves, buckets: one is summed over the PEs while
// the other one is computed. Each way trains twice: so, and with sums in turn with gradients.
//
// The model is linear, so that a plain loop can check it: y = sum of x[i] * w[i].
//
// --by device: one kernel takes all steps. stream: kernels and reductions on two streams, or on
// one. host: the host reduces, so nothing overlaps.
#include <chime/chime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "common/figures.hpp"
#include "common/options.hpp"
#include "common/program.hpp"

namespace exec = chime::exec;
using examples::fail;
using examples::must;
using examples::must_call;
using examples::of_device;
using examples::symmetric;

struct Options {
  int weights = 4096, samples = 16, steps = 20;  // samples: of a PE
  int blocks = 0, threads = 0;                   // 0: as the device likes
  std::vector<std::string> by = {"device"};      // one after another
  bool validate = false;
  examples::Output output;
};

// What kernels get.
struct Model {
  float *gradient, *sums;      // symmetric: of this PE; of all, for two steps
  float *weights, *residuals;  // of the device
  int n_pes, me, n, samples;   // n: weights
};

// Where a step's sums go. Steps take turns: a PE that has them may begin the next step's, and write
// to a PE that still reads. It begins those after next only when all have begun the next.
static CHIME_HOST_DEVICE float* sum_of(const Model& model, int step) {
  return model.sums + static_cast<std::size_t>(step % 2) * static_cast<unsigned>(model.n);
}

// Bucket 1 comes first, as the last layers of a network do.
struct Bucket {
  int begin, end;
  CHIME_HOST_DEVICE std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};
CHIME_HOST_DEVICE Bucket bucket_of(int n, int number) {
  return number == 0 ? Bucket{0, n / 2} : Bucket{n / 2, n};
}

// Small numbers, exact in float.
CHIME_HOST_DEVICE float number_of(unsigned a, unsigned b) {
  unsigned h = a * 2654435761u ^ (b + 0x9e3779b9u) * 2246822519u;
  h = (h ^ h >> 15) * 2246822519u;
  return static_cast<float>(static_cast<int>((h ^ h >> 13) % 17) - 8) / 8;
}
CHIME_HOST_DEVICE float input(int pe, int sample, int i) {
  return number_of(static_cast<unsigned>(pe * 4096 + sample), static_cast<unsigned>(i));
}
CHIME_HOST_DEVICE float wanted_output(int pe, int sample) {
  return number_of(static_cast<unsigned>(pe * 4096 + sample), 0xffffffffu);
}
CHIME_HOST_DEVICE float rate(int n, int all_samples) {
  return 0.5f / static_cast<float>(n) / static_cast<float>(all_samples);
}

// ---- Steps, by all threads of a kernel ----------------------------------------------------------

// Which of several workers a thread is: of all threads, or of all but those of the first block.
struct Worker {
  int rank, count;
};
static CHIME_DEVICE Worker one_of_all() {
  const auto threads = exec::block_threads();
  return {static_cast<int>(exec::block_rank() * threads + exec::thread_rank()),
          static_cast<int>(exec::grid_blocks() * threads)};
}

static CHIME_DEVICE void find_residuals(const Model& model, Worker worker) {
  for (int sample = worker.rank; sample < model.samples; sample += worker.count) {
    float output = 0;
    for (int i = 0; i < model.n; ++i) output += input(model.me, sample, i) * model.weights[i];
    model.residuals[sample] = output - wanted_output(model.me, sample);
  }
}
static CHIME_DEVICE void find_gradient(const Model& model, Bucket bucket, Worker worker) {
  for (int i = bucket.begin + worker.rank; i < bucket.end; i += worker.count) {
    float gradient = 0;
    for (int sample = 0; sample < model.samples; ++sample)
      gradient += input(model.me, sample, i) * model.residuals[sample];
    model.gradient[i] = gradient;
  }
}
static CHIME_DEVICE void change_weights(const Model& model, int step, Worker worker) {
  const float* const sum = sum_of(model, step);
  const float by = rate(model.n, model.n_pes * model.samples);
  for (int i = worker.rank; i < model.n; i += worker.count) model.weights[i] -= by * sum[i];
}

// ---- One kernel ---------------------------------------------------------------------------------

static CHIME_DEVICE void sum_bucket(const Model& model, int step, Bucket bucket) {
  chimex_float_sum_reduce_block(CHIME_TEAM_WORLD, sum_of(model, step) + bucket.begin,
                                model.gradient + bucket.begin, bucket.size());
}

// If sums overlap, the first block sums bucket 1 while the others compute bucket 0.
static CHIME_KERNEL void train(Model model, int steps, bool overlaps) {
  const Worker all = one_of_all();
  const auto threads = static_cast<int>(exec::block_threads());
  const bool is_first = exec::block_rank() == 0;
  const bool is_shared = overlaps && exec::grid_blocks() > 1;
  for (int step = 0; step < steps; ++step) {
    find_residuals(model, all);
    exec::sync_grid();
    find_gradient(model, bucket_of(model.n, 1), all);
    exec::sync_grid();
    if (is_first) sum_bucket(model, step, bucket_of(model.n, 1));
    if (!overlaps) exec::sync_grid();
    if (!is_shared) find_gradient(model, bucket_of(model.n, 0), all);
    if (is_shared && !is_first)
      find_gradient(model, bucket_of(model.n, 0), {all.rank - threads, all.count - threads});
    exec::sync_grid();
    if (is_first) sum_bucket(model, step, bucket_of(model.n, 0));
    exec::sync_grid();
    change_weights(model, step, all);
    exec::sync_grid();
  }
}

// ---- Kernels for streams ------------------------------------------------------------------------

static CHIME_KERNEL void residuals(Model model) { find_residuals(model, one_of_all()); }
static CHIME_KERNEL void gradient(Model model, int bucket) {
  find_gradient(model, bucket_of(model.n, bucket), one_of_all());
}
static CHIME_KERNEL void change(Model model, int step) {
  change_weights(model, step, one_of_all());
}

// ---- The host -----------------------------------------------------------------------------------

static exec::LaunchConfig shape_of_kernels(const Options& options, exec::Stream stream) {
  return examples::shape_of_kernels({options.blocks, options.threads}, {32, 128}, stream);
}

// For kernels and for sums, and what one awaits of the other.
struct Streams {
  exec::Stream kernels, sums;
  exec::Event computed, summed;
};
static Streams make_streams() {
  Streams streams{};
  must(exec::stream_create(&streams.kernels), "a stream");
  must(exec::stream_create(&streams.sums), "a stream");
  must(exec::event_create(&streams.computed), "an event");
  must(exec::event_create(&streams.summed), "an event");
  return streams;
}
static void free_streams(const Streams& streams) {
  must(exec::event_destroy(streams.summed), "ending an event");
  must(exec::event_destroy(streams.computed), "ending an event");
  must(exec::stream_destroy(streams.sums), "ending a stream");
  must(exec::stream_destroy(streams.kernels), "ending a stream");
}

static void train_in_kernel(const Options& options, const Model& model, exec::Stream stream,
                            bool overlaps) {
  must(chime::collective_launch(shape_of_kernels(options, stream), train, model, options.steps,
                                overlaps),
       "launching the kernel");
}

// `sum(step, bucket)` is called when the kernel that computes the bucket has been launched,
// `sums_are_there()` before the one that needs both.
template <class Sum, class SumsAreThere>
static void train_by_kernels(const Options& options, const Model& model, exec::Stream stream,
                             Sum sum, SumsAreThere sums_are_there) {
  const exec::LaunchConfig config = shape_of_kernels(options, stream);
  for (int step = 0; step < options.steps; ++step) {
    must(exec::launch(config, residuals, model), "computing residuals");
    for (const int bucket : {1, 0}) {
      must(exec::launch(config, gradient, model, bucket), "computing a gradient");
      sum(step, bucket_of(model.n, bucket));
    }
    sums_are_there();
    must(exec::launch(config, change, model, step), "changing weights");
  }
}

static void sum_on_stream(const Model& model, int step, Bucket bucket, exec::Stream stream) {
  must_call(chimex_float_sum_reduce_on_stream(CHIME_TEAM_WORLD, sum_of(model, step) + bucket.begin,
                                              model.gradient + bucket.begin, bucket.size(), stream),
            "summing a bucket");
}

static void train_on_one_stream(const Options& options, const Model& model, exec::Stream stream) {
  train_by_kernels(
      options, model, stream,
      [&](int step, Bucket bucket) { sum_on_stream(model, step, bucket, stream); }, [] {});
}

static void train_on_streams(const Options& options, const Model& model, const Streams& streams) {
  train_by_kernels(
      options, model, streams.kernels,
      [&](int step, Bucket bucket) {
        must(exec::event_record(streams.computed, streams.kernels), "recording an event");
        must(exec::stream_wait_event(streams.sums, streams.computed), "waiting for an event");
        sum_on_stream(model, step, bucket, streams.sums);
      },
      [&] {
        must(exec::event_record(streams.summed, streams.sums), "recording an event");
        must(exec::stream_wait_event(streams.kernels, streams.summed), "waiting for an event");
      });
}

static void train_by_host(const Options& options, const Model& model, exec::Stream stream) {
  train_by_kernels(
      options, model, stream,
      [&](int step, Bucket bucket) {
        must(exec::stream_synchronize(stream), "running kernels");
        must_call(chime_float_sum_reduce(CHIME_TEAM_WORLD, sum_of(model, step) + bucket.begin,
                                         model.gradient + bucket.begin, bucket.size()),
                  "summing a bucket");
      },
      [] {});
}

// ---- The answer of plain loops ------------------------------------------------------------------

static std::vector<float> trained(const Options& options, int n_pes) {
  std::vector<float> weights(static_cast<std::size_t>(options.weights));
  for (int step = 0; step < options.steps; ++step) {
    std::vector<double> sum(weights.size());
    for (int pe = 0; pe < n_pes; ++pe)
      for (int sample = 0; sample < options.samples; ++sample) {
        double output = 0;
        for (int i = 0; i < options.weights; ++i)
          output +=
              static_cast<double>(input(pe, sample, i)) * weights[static_cast<std::size_t>(i)];
        const double residual = output - wanted_output(pe, sample);
        for (int i = 0; i < options.weights; ++i)
          sum[static_cast<std::size_t>(i)] += input(pe, sample, i) * residual;
      }
    const float by = rate(options.weights, n_pes * options.samples);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= by * static_cast<float>(sum[i]);
  }
  return weights;
}

static void validate(const Options& options, const Model& model) {
  std::vector<float> got(static_cast<std::size_t>(model.n));
  must(exec::copy(got.data(), model.weights, got.size() * sizeof(float)), "reading weights");
  const std::vector<float> wanted = trained(options, model.n_pes);
  float largest = 0;
  for (const float weight : wanted) largest = std::max(largest, std::abs(weight));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= 1e-4f * largest))
      fail("weight " + std::to_string(i) + " is " + std::to_string(got[i]) + ", and not " +
           std::to_string(wanted[i]));
  // Sums are the same bits on all PEs, so the weights are.
  must(exec::copy(model.gradient, got.data(), got.size() * sizeof(float)), "filling weights");
  chime_barrier_all();
  must_call(chime_float_max_reduce(CHIME_TEAM_WORLD, model.sums, model.gradient, got.size()),
            "comparing weights");
  std::vector<float> most(got.size());
  must(exec::copy(most.data(), model.sums, most.size() * sizeof(float)), "reading weights");
  if (most != got) fail("weights differ between PEs");
}

const char kUsage[] =
    "usage: allreduce [--weights N] [--samples N] [--steps N] [--blocks N] [--threads N]\n"
    "                 [--by device,stream,host] [--validate] [--json]\n"
    "                 [--plot FILE.png|.pdf|.svg]\n"
    "Samples are those of a PE. --by: one or more, one after another. --plot: draws the time of a\n"
    "step, with sums that overlap gradients and in turn with them.\n";

static bool parse(int argc, char** argv, Options* options) {
  constexpr int kMost = 1 << 30, kMostSamples = 4096;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--validate" || name == "--json") {
      (name == "--json" ? options->output.json : options->validate) = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    int* const number = name == "--weights"   ? &options->weights
                        : name == "--samples" ? &options->samples
                        : name == "--steps"   ? &options->steps
                        : name == "--blocks"  ? &options->blocks
                        : name == "--threads" ? &options->threads
                                              : nullptr;
    const int most = number == &options->samples ? kMostSamples : kMost;
    const bool is_right =
        name == "--by" ? examples::parse_names(value, {"device", "stream", "host"}, &options->by)
        : name == "--plot" ? examples::parse_picture(value, &options->output.plot)
                           : number != nullptr && examples::parse_number(value, 1, most, number);
    if (!is_right) return false;
  }
  return true;
}

// ---- Runs ---------------------------------------------------------------------------------------

static Model make_model(const Options& options) {
  const auto n = static_cast<std::size_t>(options.weights);
  return {symmetric<float>(n), symmetric<float>(2 * n),
          of_device<float>(n), of_device<float>(static_cast<std::size_t>(options.samples)),
          chime_n_pes(),       chime_my_pe(),
          options.weights,     options.samples};
}
static void free_model(const Model& model) {
  exec::device_free(model.residuals);
  exec::device_free(model.weights);
  chime_free(model.sums);
  chime_free(model.gradient);
}

// Microseconds of a step, from weights that are all 0.
static double measure(const Options& options, const std::string& by, bool overlaps,
                      const Streams& streams) {
  const exec::Stream stream = streams.kernels;
  const Model model = make_model(options);
  chime_barrier_all();
  const auto begin = std::chrono::steady_clock::now();
  if (by == "device") train_in_kernel(options, model, stream, overlaps);
  if (by == "stream" && overlaps) train_on_streams(options, model, streams);
  if (by == "stream" && !overlaps) train_on_one_stream(options, model, stream);
  if (by == "host") train_by_host(options, model, stream);
  must(exec::stream_synchronize(stream), "running kernels");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  examples::must_have_worked();
  if (options.validate) validate(options, model);
  chime_barrier_all();
  free_model(model);
  return took.count() / options.steps * 1e6;
}

static examples::Figures figures_without_rows(const Options& options) {
  const std::string pes = std::to_string(chime_n_pes()), steps = std::to_string(options.steps),
                    weights = std::to_string(options.weights),
                    samples = std::to_string(options.samples);
  return {.program = "allreduce",
          .what = pes + " PEs, " + weights + " weights, " + samples + " samples each, a step of " +
                  steps + (options.validate ? "; weights are right" : ""),
          .facts = {{"pes", pes},
                    {"weights", weights},
                    {"samples", samples},
                    {"steps", steps},
                    {"validated", options.validate ? "true" : "false"}},
          .key = "by",
          .columns = {"overlapping (us)", "in turn (us)"},
          .rows = {}};
}

static void run(const Options& options) {
  const bool is_teller = chime_my_pe() == 0;
  if (is_teller) examples::require_output(options.output);
  const Streams streams = make_streams();
  examples::Figures figures = figures_without_rows(options);
  Options warm_up = options;  // first launches and first touches
  warm_up.steps = 1;
  warm_up.validate = false;
  for (const std::string& by : options.by) {
    measure(warm_up, by, by != "host", streams);
    const double overlapping =
        by == "host" ? examples::kNotMeasured : measure(options, by, true, streams);
    figures.rows.push_back({by, {overlapping, measure(options, by, false, streams)}});
  }
  free_streams(streams);
  if (is_teller) examples::report(figures, options.output);
}

int main(int argc, char** argv) { return examples::run_program(argc, argv, parse, kUsage, run); }
