// GUPS: random updates of a table that lies on all PEs. An update is an exclusive or of a word with
// a random number, which also says which word. Rules as of HPC Challenge's RandomAccess, but that
// no update may be lost.
//
// --by device: a thread of a kernel updates the word where it lies. exchange: updates are sorted by
// PE, an alltoallv takes them there, and each PE updates its own words. host: one call an update.
#include <chime/chime.h>

#include <algorithm>
#include <chrono>
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
  std::vector<int> words = {4096};           // of a PE
  int updates = 16384, batch = 1024;         // of a PE; batch: updates of an exchange
  int blocks = 0, threads = 0;               // 0: as the device likes
  std::vector<std::string> by = {"device"};  // one after another
  bool validate = false;
  examples::Output output;
};

// What kernels get.
struct Table {
  std::uint64_t* words;  // symmetric: the words of a PE
  int n_pes, me, words_each;
};

// Update `i` of a PE: a number that looks random (splitmix64).
CHIME_HOST_DEVICE std::uint64_t update(int pe, int i) {
  std::uint64_t x =
      (static_cast<std::uint64_t>(static_cast<unsigned>(pe)) << 32 | static_cast<unsigned>(i)) *
      0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
// The word that it updates, of those of all PEs.
CHIME_HOST_DEVICE std::uint64_t word_of(std::uint64_t update, int n_pes, int words_each) {
  return update % (static_cast<std::uint64_t>(static_cast<unsigned>(n_pes)) *
                   static_cast<unsigned>(words_each));
}
struct Place {
  int pe, word;
};
CHIME_HOST_DEVICE Place place_of(std::uint64_t update, int n_pes, int words_each) {
  const auto word = word_of(update, n_pes, words_each);
  return {static_cast<int>(word / static_cast<unsigned>(words_each)),
          static_cast<int>(word % static_cast<unsigned>(words_each))};
}

static CHIME_DEVICE int first_of_all() {
  return static_cast<int>(exec::block_rank() * exec::block_threads() + exec::thread_rank());
}
static CHIME_DEVICE int all_threads() {
  return static_cast<int>(exec::grid_blocks() * exec::block_threads());
}

// ---- By kernels that update words of any PE -----------------------------------------------------

static CHIME_KERNEL void update_anywhere(Table table, int updates) {
  for (int i = first_of_all(); i < updates; i += all_threads()) {
    const std::uint64_t value = update(table.me, i);
    const Place place = place_of(value, table.n_pes, table.words_each);
    chime_uint64_atomic_xor(table.words + place.word, value, place.pe);
  }
  chime_quiet();  // no update is on its way when the kernel ends
}

// ---- By exchanges -------------------------------------------------------------------------------

// A batch of updates, sorted by PE: for each PE, place for all of them.
struct Batch {
  std::uint64_t *out, *in;  // symmetric; in: of two batches
  unsigned* placed;         // updates for each PE so far; of the device, as the rest
  std::size_t *sent, *here, *offsets;
  int most;
};

static CHIME_KERNEL void empty_batch(Table table, Batch batch) {
  for (int pe = first_of_all(); pe < table.n_pes; pe += all_threads()) batch.placed[pe] = 0;
}
static CHIME_KERNEL void fill_batch(Table table, Batch batch, int first, int end) {
  for (int i = first + first_of_all(); i < end; i += all_threads()) {
    const std::uint64_t value = update(table.me, i);
    const int pe = place_of(value, table.n_pes, table.words_each).pe;
    const unsigned at = exec::atomic_add(batch.placed + pe, 1u);
    batch.out[static_cast<std::size_t>(pe) * static_cast<unsigned>(batch.most) + at] = value;
  }
}
static CHIME_KERNEL void count_batch(Table table, Batch batch) {
  for (int pe = first_of_all(); pe < table.n_pes; pe += all_threads()) {
    batch.sent[pe] = batch.placed[pe];
    batch.here[pe] = static_cast<unsigned>(batch.most);
  }
}
static CHIME_KERNEL void update_own(Table table, Batch batch) {
  for (int pe = 0; pe < table.n_pes; ++pe) {
    const std::uint64_t* const from =
        batch.in + static_cast<std::size_t>(pe) * static_cast<unsigned>(batch.most);
    for (int i = first_of_all(); i < static_cast<int>(batch.here[pe]); i += all_threads()) {
      const int word = place_of(from[i], table.n_pes, table.words_each).word;
      chime_uint64_atomic_xor(table.words + word, from[i], table.me);
    }
  }
}

// ---- The host -----------------------------------------------------------------------------------

static exec::LaunchConfig shape_of_kernels(const Options& options, exec::Stream stream) {
  return examples::shape_of_kernels({options.blocks, options.threads}, {64, 256}, stream);
}

static void update_by_device(const Options& options, const Table& table, exec::Stream stream) {
  must(exec::launch(shape_of_kernels(options, stream), update_anywhere, table, options.updates),
       "launching the kernel");
  must(exec::stream_synchronize(stream), "running the kernel");
}

static Batch make_batch(const Options& options) {
  const auto pes = static_cast<std::size_t>(chime_n_pes());
  const std::size_t all = pes * static_cast<unsigned>(options.batch);
  const Batch batch = {symmetric<std::uint64_t>(all),
                       symmetric<std::uint64_t>(2 * all),
                       of_device<unsigned>(pes),
                       of_device<std::size_t>(pes),
                       of_device<std::size_t>(pes),
                       of_device<std::size_t>(pes),
                       options.batch};
  std::vector<std::size_t> offsets;
  for (std::size_t pe = 0; pe < pes; ++pe)
    offsets.push_back(pe * static_cast<unsigned>(options.batch));
  must(exec::copy(batch.offsets, offsets.data(), pes * sizeof(std::size_t)), "filling offsets");
  return batch;
}
static void free_batch(const Batch& batch) {
  for (std::size_t* memory : {batch.sent, batch.here, batch.offsets}) exec::device_free(memory);
  exec::device_free(batch.placed);
  chime_free(batch.in);
  chime_free(batch.out);
}

// Batches come to two places in turns: a PE that has one may begin the next, and write to a PE that
// still reads. It begins the one after next only when all have begun the next.
static Batch batch_of(const Batch& batch, const Table& table, int number) {
  Batch its = batch;
  its.in += static_cast<std::size_t>(number % 2) * static_cast<unsigned>(table.n_pes) *
            static_cast<unsigned>(batch.most);
  return its;
}

static void update_by_exchange(const Options& options, const Table& table, const Batch& batches,
                               exec::Stream stream) {
  const exec::LaunchConfig config = shape_of_kernels(options, stream);
  for (int first = 0; first < options.updates; first += options.batch) {
    const int end = std::min(first + options.batch, options.updates);
    const Batch batch = batch_of(batches, table, first / options.batch);
    must(exec::launch(config, empty_batch, table, batch), "emptying the batch");
    must(exec::launch(config, fill_batch, table, batch, first, end), "filling the batch");
    must(exec::launch(config, count_batch, table, batch), "counting the batch");
    must_call(
        chimex_uint64_alltoallv_on_stream(CHIME_TEAM_WORLD, batch.in, batch.here, batch.offsets,
                                          batch.out, batch.sent, batch.offsets, stream),
        "exchanging updates");
    must(exec::launch(config, update_own, table, batch), "updating words");
  }
  must(exec::stream_synchronize(stream), "running kernels");
}

static void update_by_host(const Options& options, const Table& table) {
  for (int i = 0; i < options.updates; ++i) {
    const std::uint64_t value = update(table.me, i);
    const Place place = place_of(value, table.n_pes, table.words_each);
    chime_uint64_atomic_xor(table.words + place.word, value, place.pe);
  }
  chime_quiet();
}

// This PE's words, by plain loops over the updates of all PEs.
static void validate(const Options& options, const Table& table) {
  const auto each = static_cast<std::size_t>(table.words_each);
  std::vector<std::uint64_t> wanted(each), got(each);
  for (int pe = 0; pe < table.n_pes; ++pe)
    for (int i = 0; i < options.updates; ++i) {
      const std::uint64_t value = update(pe, i);
      const Place place = place_of(value, table.n_pes, table.words_each);
      if (place.pe == table.me) wanted[static_cast<std::size_t>(place.word)] ^= value;
    }
  must(exec::copy(got.data(), table.words, each * sizeof(std::uint64_t)), "reading words");
  for (std::size_t i = 0; i < each; ++i)
    if (got[i] != wanted[i])
      fail("word " + std::to_string(i) + " is " + std::to_string(got[i]) + ", and not " +
           std::to_string(wanted[i]));
}

const char kUsage[] =
    "usage: gups [--words N,...] [--updates N] [--batch N] [--blocks N] [--threads N]\n"
    "            [--by device,exchange,host] [--validate] [--json] [--plot FILE.png|.pdf|.svg]\n"
    "Words and updates are those of a PE. --words, --by: one or more, measured one after another.\n"
    "--batch: updates of an exchange. --plot: draws updates a second over words.\n";

static bool parse(int argc, char** argv, Options* options) {
  constexpr int kMost = 1 << 30;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--validate" || name == "--json") {
      (name == "--json" ? options->output.json : options->validate) = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    int* const number = name == "--updates"   ? &options->updates
                        : name == "--batch"   ? &options->batch
                        : name == "--blocks"  ? &options->blocks
                        : name == "--threads" ? &options->threads
                                              : nullptr;
    const bool is_right =
        name == "--by" ? examples::parse_names(value, {"device", "exchange", "host"}, &options->by)
        : name == "--words" ? examples::parse_numbers(value, 1, kMost, &options->words)
        : name == "--plot"  ? examples::parse_picture(value, &options->output.plot)
                            : number != nullptr && examples::parse_number(value, 1, kMost, number);
    if (!is_right) return false;
  }
  return true;
}

// All PEs' updates a second, in millions.
static double measure(const Options& options, const std::string& by, int words,
                      exec::Stream stream) {
  const Table table = {symmetric<std::uint64_t>(static_cast<std::size_t>(words)), chime_n_pes(),
                       chime_my_pe(), words};
  const bool exchanges = by == "exchange";
  const Batch batch = exchanges ? make_batch(options) : Batch{};
  chime_barrier_all();
  const auto begin = std::chrono::steady_clock::now();
  if (by == "device") update_by_device(options, table, stream);
  if (exchanges) update_by_exchange(options, table, batch, stream);
  if (by == "host") update_by_host(options, table);
  chime_barrier_all();  // all updates of all PEs
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  examples::must_have_worked();
  if (options.validate) validate(options, table);
  const double updates = static_cast<double>(table.n_pes) * options.updates;
  chime_barrier_all();
  if (exchanges) free_batch(batch);
  chime_free(table.words);
  return updates / took.count() / 1e6;
}

static examples::Figures figures_without_rows(const Options& options) {
  const std::string pes = std::to_string(chime_n_pes()), updates = std::to_string(options.updates);
  examples::Figures figures = {.program = "gups",
                               .what = pes + " PEs, " + updates + " updates each" +
                                       (options.validate ? "; no update is lost" : ""),
                               .facts = {{"pes", pes},
                                         {"updates", updates},
                                         {"validated", options.validate ? "true" : "false"}},
                               .key = "words of a PE",
                               .columns = {},
                               .rows = {}};
  for (const std::string& by : options.by) figures.columns.push_back(by + " (million updates/s)");
  return figures;
}

static void run(const Options& options) {
  const bool is_teller = chime_my_pe() == 0;
  if (is_teller) examples::require_output(options.output);
  exec::Stream stream{};
  must(exec::stream_create(&stream), "a stream");
  examples::Figures figures = figures_without_rows(options);
  Options warm_up = options;  // first launches and first touches
  warm_up.updates = 1;
  warm_up.validate = false;
  for (const int words : options.words) {
    std::vector<double> row;
    for (const std::string& by : options.by) measure(warm_up, by, words, stream);
    for (const std::string& by : options.by) row.push_back(measure(options, by, words, stream));
    figures.rows.push_back({std::to_string(words), row});
  }
  must(exec::stream_destroy(stream), "ending the stream");
  if (is_teller) examples::report(figures, options.output);
}

int main(int argc, char** argv) { return examples::run_program(argc, argv, parse, kUsage, run); }
