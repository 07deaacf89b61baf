// Data-parallel training: each PE has samples, all have the same weights, and the sum of all PEs'
// gradients changes them. The gradient has two halves, buckets: one is summed over the PEs while
// the other one is computed.
//
// The model is linear, so that a plain loop can check it: y = sum of x[i] * w[i].
//
// --by device: one kernel takes all steps. stream: kernels and reductions on two streams. host: the
// host reduces, so nothing overlaps.
#include <chime/chime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace exec = chime::exec;

struct Options {
  int weights = 4096, samples = 16, steps = 20;  // samples: of a PE
  int blocks = 0, threads = 0;                   // 0: as the device likes
  std::string by = "device";
  bool validate = false, json = false;
};

// What kernels get.
struct Model {
  float *gradient, *sum;       // symmetric: of this PE, and of all
  float *weights, *residuals;  // of the device
  int n_pes, me, n, samples;   // n: weights
};

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
static CHIME_DEVICE void change_weights(const Model& model, Worker worker) {
  const float by = rate(model.n, model.n_pes * model.samples);
  for (int i = worker.rank; i < model.n; i += worker.count) model.weights[i] -= by * model.sum[i];
}

// ---- One kernel ---------------------------------------------------------------------------------

static CHIME_DEVICE void sum_bucket(const Model& model, Bucket bucket) {
  chimex_float_sum_reduce_block(CHIME_TEAM_WORLD, model.sum + bucket.begin,
                                model.gradient + bucket.begin, bucket.size());
}

// The first block sums bucket 1 while the others compute bucket 0. A PE's sum is written by others
// only in a reduction that it has entered, too, so it has read the last one.
static CHIME_KERNEL void train(Model model, int steps) {
  const Worker all = one_of_all();
  const auto threads = static_cast<int>(exec::block_threads());
  const bool is_alone = exec::grid_blocks() == 1, is_first = exec::block_rank() == 0;
  for (int step = 0; step < steps; ++step) {
    find_residuals(model, all);
    exec::sync_grid();
    find_gradient(model, bucket_of(model.n, 1), all);
    exec::sync_grid();
    if (is_first) sum_bucket(model, bucket_of(model.n, 1));
    if (is_alone) find_gradient(model, bucket_of(model.n, 0), all);
    if (!is_first)
      find_gradient(model, bucket_of(model.n, 0), {all.rank - threads, all.count - threads});
    exec::sync_grid();
    if (is_first) sum_bucket(model, bucket_of(model.n, 0));
    exec::sync_grid();
    change_weights(model, all);
    exec::sync_grid();
  }
}

// ---- Kernels for streams ------------------------------------------------------------------------

static CHIME_KERNEL void residuals(Model model) { find_residuals(model, one_of_all()); }
static CHIME_KERNEL void gradient(Model model, int bucket) {
  find_gradient(model, bucket_of(model.n, bucket), one_of_all());
}
static CHIME_KERNEL void change(Model model) { change_weights(model, one_of_all()); }

// ---- The host -----------------------------------------------------------------------------------

[[noreturn]] static void fail(const std::string& what) {
  std::fprintf(stderr, "allreduce, PE %d: %s\n", chimex_host_my_pe(), what.c_str());
  chime_global_exit(1);
  std::abort();
}
static void must(int status, const char* what) {
  if (status != CHIMEX_OK) fail(std::string(what) + ": " + exec::last_error());
}
static void must_call(int status, const char* what) {
  if (status != CHIMEX_OK) fail(std::string(what) + ": " + chimex_last_error());
}
static float* symmetric(std::size_t count) {
  auto* const memory = static_cast<float*>(chime_calloc(count, sizeof(float)));
  if (memory == nullptr) fail(std::string("symmetric memory: ") + chimex_last_error());
  return memory;
}
static float* of_device(std::size_t count) {
  void* memory = nullptr;
  must(exec::device_malloc(&memory, count * sizeof(float)), "device memory");
  const std::vector<float> zeros(count);
  must(exec::copy(memory, zeros.data(), count * sizeof(float)), "clearing device memory");
  return static_cast<float*>(memory);
}

// A CPU runs the threads of a block in turns, and has few cores for blocks.
static exec::LaunchConfig shape_of_kernels(const Options& options, exec::Stream stream) {
  exec::DeviceProps props;
  must(exec::device_props(0, &props), "asking for the device");
  exec::LaunchConfig config;
  const unsigned blocks = props.is_cpu ? 1 : 32, threads = props.is_cpu ? 1 : 128;
  config.grid = options.blocks > 0 ? static_cast<unsigned>(options.blocks) : blocks;
  config.block = options.threads > 0 ? static_cast<unsigned>(options.threads) : threads;
  config.stream = stream;
  return config;
}

static void train_in_kernel(const Options& options, const Model& model, exec::Stream stream) {
  must(chime::collective_launch(shape_of_kernels(options, stream), train, model, options.steps),
       "launching the kernel");
}

// `sum(bucket)` is called when the kernel that computes the bucket has been launched,
// `sums_are_there()` before the one that needs both.
template <class Sum, class SumsAreThere>
static void train_by_kernels(const Options& options, const Model& model, exec::Stream stream,
                             Sum sum, SumsAreThere sums_are_there) {
  const exec::LaunchConfig config = shape_of_kernels(options, stream);
  for (int step = 0; step < options.steps; ++step) {
    must(exec::launch(config, residuals, model), "computing residuals");
    for (const int bucket : {1, 0}) {
      must(exec::launch(config, gradient, model, bucket), "computing a gradient");
      sum(bucket_of(model.n, bucket));
    }
    sums_are_there();
    must(exec::launch(config, change, model), "changing weights");
  }
}

static void train_on_streams(const Options& options, const Model& model, exec::Stream stream) {
  exec::Stream sums{};
  exec::Event computed{}, summed{};
  must(exec::stream_create(&sums), "a stream");
  must(exec::event_create(&computed), "an event");
  must(exec::event_create(&summed), "an event");
  train_by_kernels(
      options, model, stream,
      [&](Bucket bucket) {
        must(exec::event_record(computed, stream), "recording an event");
        must(exec::stream_wait_event(sums, computed), "waiting for an event");
        must_call(
            chimex_float_sum_reduce_on_stream(CHIME_TEAM_WORLD, model.sum + bucket.begin,
                                              model.gradient + bucket.begin, bucket.size(), sums),
            "summing a bucket");
      },
      [&] {
        must(exec::event_record(summed, sums), "recording an event");
        must(exec::stream_wait_event(stream, summed), "waiting for an event");
      });
  must(exec::stream_synchronize(stream), "running kernels");
  must(exec::event_destroy(summed), "ending an event");
  must(exec::event_destroy(computed), "ending an event");
  must(exec::stream_destroy(sums), "ending a stream");
}

static void train_by_host(const Options& options, const Model& model, exec::Stream stream) {
  train_by_kernels(
      options, model, stream,
      [&](Bucket bucket) {
        must(exec::stream_synchronize(stream), "running kernels");
        must_call(chime_float_sum_reduce(CHIME_TEAM_WORLD, model.sum + bucket.begin,
                                         model.gradient + bucket.begin, bucket.size()),
                  "summing a bucket");
      },
      [] {});
}

// ---- The answer of plain loops, and the report --------------------------------------------------

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
  must_call(chime_float_max_reduce(CHIME_TEAM_WORLD, model.sum, model.gradient, got.size()),
            "comparing weights");
  std::vector<float> most(got.size());
  must(exec::copy(most.data(), model.sum, most.size() * sizeof(float)), "reading weights");
  if (most != got) fail("weights differ between PEs");
}

static bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--validate" || name == "--json") {
      (name == "--json" ? options->json : options->validate) = true;
      continue;
    }
    if (++i == argc) return false;
    if (name == "--by") {
      options->by = argv[i];
      continue;
    }
    int* const value = name == "--weights"   ? &options->weights
                       : name == "--samples" ? &options->samples
                       : name == "--steps"   ? &options->steps
                       : name == "--blocks"  ? &options->blocks
                       : name == "--threads" ? &options->threads
                                             : nullptr;
    if (value == nullptr || (*value = std::atoi(argv[i])) < 1) return false;
  }
  return (options->by == "device" || options->by == "stream" || options->by == "host") &&
         options->samples <= 4096;
}

static void report(const Options& options, int n_pes, double seconds) {
  const char* const format =
      options.json
          ? "{\"program\": \"allreduce\", \"by\": \"%s\", \"pes\": %d, \"weights\": %d, "
            "\"samples\": %d, "
            "\"steps\": %d, \"seconds_per_step\": %.9f, \"validated\": %s}\n"
          : "allreduce by %s: %d PEs, %d weights, %d samples each, %d steps: %.9f s a step%s\n";
  const char* const checked = options.json       ? (options.validate ? "true" : "false")
                              : options.validate ? ", weights are right"
                                                 : "";
  std::printf(format, options.by.c_str(), n_pes, options.weights, options.samples, options.steps,
              seconds / options.steps, checked);
}

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: %s [--weights N] [--samples N] [--steps N] [--blocks N] [--threads N]\n"
                 "          [--by device|stream|host] [--validate] [--json]\n",
                 argv[0]);
    return 2;
  }
  chime_init();
  const auto n = static_cast<std::size_t>(options.weights);
  const Model model = {symmetric(n),    symmetric(n),
                       of_device(n),    of_device(static_cast<std::size_t>(options.samples)),
                       chime_n_pes(),   chime_my_pe(),
                       options.weights, options.samples};
  exec::Stream stream{};
  must(exec::stream_create(&stream), "a stream");
  chime_barrier_all();
  const auto begin = std::chrono::steady_clock::now();
  if (options.by == "device") train_in_kernel(options, model, stream);
  if (options.by == "stream") train_on_streams(options, model, stream);
  if (options.by == "host") train_by_host(options, model, stream);
  must(exec::stream_synchronize(stream), "running kernels");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  chimex_async_error_t error;
  must_call(chimex_get_async_error(&error), "asking for errors");
  if (error.status != CHIMEX_OK) fail(std::string("a kernel gave up: ") + error.message);
  if (options.validate) validate(options, model);
  if (model.me == 0) report(options, model.n_pes, took.count());
  chime_barrier_all();
  must(exec::stream_destroy(stream), "ending the stream");
  exec::device_free(model.residuals);
  exec::device_free(model.weights);
  chime_free(model.sum);
  chime_free(model.gradient);
  chime_finalize();
  return 0;
}
