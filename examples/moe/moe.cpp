// A layer of experts: each token goes to some of them, on any PE, and its answers come back and are
// added. The main program: options, runs, the answer of one PE, and a report.
#include <chime/chime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "buffers.hpp"
#include "common/figures.hpp"
#include "common/options.hpp"
#include "common/program.hpp"
#include "routing.hpp"
#include "ways.hpp"

namespace moe {
namespace {

struct Options {
  std::vector<int> tokens = {64};
  int dim = 128, experts = 4, top = 2, skew = 0, iterations = 20, rounds = 1;
  int blocks = 0, threads = 0;  // 0: as the device likes
  std::vector<std::string> by = {"device"};
  bool half = false, validate = false;
  examples::Output output;
};

const char kUsage[] =
    "usage: moe [--tokens N,...] [--dim N] [--experts N] [--top N] [--skew PERCENT]\n"
    "           [--iterations N] [--rounds N] [--blocks N] [--threads N]\n"
    "           [--by device,puts,stream,host,mpi] [--half] [--validate] [--json]\n"
    "           [--plot FILE.png|.pdf|.svg]\n"
    "Tokens and experts are those of a PE. --top: experts that a token goes to. --skew: so many\n"
    "percent of the tokens want the first expert. --iterations: layers of a turn, of which the\n"
    "first is not measured. --rounds: all --by take turns so often, and the best counts. --half:\n"
    "elements of 2 bytes. --by: one or more; mpi: moe_mpi alone, under mpirun. --plot: draws the\n"
    "time of a layer over --tokens.\n";

bool parse_flag(const std::string& name, Options* options) {
  bool* const flag = name == "--half"       ? &options->half
                     : name == "--validate" ? &options->validate
                     : name == "--json"     ? &options->output.json
                                            : nullptr;
  if (flag != nullptr) *flag = true;
  return flag != nullptr;
}

bool parse_value(const std::string& name, const std::string& value, Options* options) {
  constexpr int kMost = 65536;
  if (name == "--by") return examples::parse_names(value, kWays, &options->by);
  if (name == "--tokens") return examples::parse_numbers(value, 1, kMost, &options->tokens);
  if (name == "--plot") return examples::parse_picture(value, &options->output.plot);
  if (name == "--skew") return examples::parse_number(value, 0, 100, &options->skew);
  int* const number = name == "--dim"          ? &options->dim
                      : name == "--experts"    ? &options->experts
                      : name == "--top"        ? &options->top
                      : name == "--iterations" ? &options->iterations
                      : name == "--rounds"     ? &options->rounds
                      : name == "--blocks"     ? &options->blocks
                      : name == "--threads"    ? &options->threads
                                               : nullptr;
  return number != nullptr && examples::parse_number(value, 1, kMost, number);
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    if (parse_flag(argv[i], options)) continue;
    if (i + 1 == argc || !parse_value(argv[i], argv[i + 1], options)) return false;
    ++i;
  }
  return true;
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

exec::LaunchConfig shape_of_kernels(const Options& options, exec::Stream stream) {
  return examples::shape_of_kernels({options.blocks, options.threads}, {32, 128}, stream);
}

// A way, and how it fared.
struct Runner {
  std::unique_ptr<Way> way;
  int iteration = 0;  // the last one
  double best_us = examples::kNotMeasured;
};

// Some iterations: the microseconds of one, without the first, on this PE.
template <class T>
double repeat(const Options& options, const Layer<T>& layer, exec::Stream stream, Runner& runner) {
  double us = 0;
  for (int i = 0; i < options.iterations; ++i) {
    ++runner.iteration;
    chime_barrier_all();  // no PE waits for one that checks its answers
    const auto begin = std::chrono::steady_clock::now();
    runner.way->run(runner.iteration);
    must(exec::stream_synchronize(stream), "running kernels");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) us += took.count();
    examples::must_have_worked();
    if (options.validate) validate(layer, runner.iteration);
  }
  return options.iterations > 1 ? us / (options.iterations - 1) : examples::kNotMeasured;
}

// Each way's best, in microseconds; then by how much each is slower than the first.
std::vector<double> row_of(const std::vector<Runner>& runners) {
  std::vector<double> row;
  for (const Runner& runner : runners) row.push_back(runner.best_us);
  for (std::size_t i = 1; i < runners.size(); ++i) row.push_back(row[i] / row[0]);
  return row;
}

template <class T>
std::vector<double> measure(const Options& options, const Shape& shape, exec::Stream stream) {
  const Layer<T> layer = make_layer<T>(shape);
  std::vector<Runner> runners;
  for (const std::string& by : options.by)
    runners.push_back({make_way(by, layer, shape_of_kernels(options, stream))});
  for (int round = 0; round < options.rounds; ++round)
    for (Runner& runner : runners)
      runner.best_us = std::fmin(runner.best_us, repeat(options, layer, stream, runner));
  const std::vector<double> row = row_of(runners);
  chime_barrier_all();
  runners.clear();
  free_layer(layer);
  return row;
}

Shape shape_of(const Options& options, int tokens) {
  return {chime_n_pes(), tokens, options.dim, options.experts, options.top, options.skew};
}

void require_something_to_draw(const Options& options) {
  if (!options.output.plot.empty() && options.iterations < 2)
    fail("--plot needs --iterations 2 or more: the first layer of a turn is not measured");
}

void require_sizes(const Shape& shape) {
  if (shape.top > shape.all_experts())
    fail("--top " + std::to_string(shape.top) + " is more than the " +
         std::to_string(shape.all_experts()) + " experts of all PEs");
  constexpr long kMost = 1 << 30;
  if (long{shape.tokens} * shape.top * shape.dim > kMost)
    fail("a PE sends more than 2^30 elements: --tokens times --top times --dim");
}

examples::Figures figures_without_rows(const Options& options) {
  const Shape shape = shape_of(options, 0);
  const auto text = [](int number) { return std::to_string(number); };
  const std::string type = options.half ? "half" : "float";
  examples::Figures figures = {.program = "moe",
                               .what = text(shape.n_pes) + " PEs, tokens of " + text(shape.dim) +
                                       " " + type + ", " + text(shape.top) + " of " +
                                       text(shape.all_experts()) +
                                       " experts each; a layer, best of " + text(options.rounds) +
                                       (options.validate ? "; answers are right" : ""),
                               .facts = {{"pes", text(shape.n_pes)},
                                         {"type", "\"" + type + "\""},
                                         {"dim", text(shape.dim)},
                                         {"experts", text(shape.experts)},
                                         {"top", text(shape.top)},
                                         {"skew", text(shape.skew)},
                                         {"iterations", text(options.iterations)},
                                         {"rounds", text(options.rounds)},
                                         {"validated", options.validate ? "true" : "false"}},
                               .key = "tokens of a PE",
                               .columns = {},
                               .rows = {}};
  for (const std::string& by : options.by) figures.columns.push_back(by + " (us)");
  for (std::size_t i = 1; i < options.by.size(); ++i)
    figures.columns.push_back(options.by[i] + " / " + options.by[0]);
  return figures;
}

void run(const Options& options) {
  require_something_to_draw(options);
  for (const int tokens : options.tokens) require_sizes(shape_of(options, tokens));
  const bool is_teller = chime_my_pe() == 0;
  if (is_teller) examples::require_output(options.output);
#ifdef MOE_HAS_MPI
  const Mpi mpi;
#endif
  exec::Stream stream{};
  must(exec::stream_create(&stream), "a stream");
  examples::Figures figures = figures_without_rows(options);
  for (const int tokens : options.tokens) {
    const Shape shape = shape_of(options, tokens);
    figures.rows.push_back(
        {std::to_string(tokens), options.half ? measure<chime_half_t>(options, shape, stream)
                                              : measure<float>(options, shape, stream)});
  }
  must(exec::stream_destroy(stream), "ending the stream");
  if (is_teller) examples::report(figures, options.output);
}

}  // namespace
}  // namespace moe

int main(int argc, char** argv) {
  return examples::run_program(argc, argv, moe::parse, moe::kUsage, moe::run);
}
