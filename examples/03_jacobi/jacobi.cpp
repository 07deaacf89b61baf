// Jacobi: the Laplace equation on a plate, with rows distributed over the PEs. One kernel runs all
// iterations. It sends its boundary rows to its neighbours as soon as they are computed, and waits
// for theirs. There is no barrier over PEs.
//
// The plate has `rows` x `columns` inner points and a fixed rim: 1 + sin(pi x) along the top, 0
// elsewhere. Every PE computes each of its points with the same operations as a single PE would. So
// the answer is the same bit for bit, and PE 0 checks that at the end.
#include <chime/chime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace exec = chime::exec;

constexpr int kThreads = 64;
constexpr int kBlocks = 4;
constexpr int kCheckEvery = 50;  // iterations between two values of the norm

struct Options {
  int rows = 96, columns = 96, iterations = 200;
};

// The rows of PE `pe`: an even share; the first PEs have one more if it does not divide evenly.
struct Slab {
  int first, count;
};
static Slab slab_of(int pe, int n_pes, int rows) {
  const int share = rows / n_pes, extra = rows % n_pes;
  return {pe * share + std::min(pe, extra), share + (pe < extra ? 1 : 0)};
}

// The input of the kernel. Two fields alternate: iteration i reads fields[(i - 1) % 2] and writes
// fields[i % 2]. A field has (count + 2) rows of (columns + 2) points: a halo or rim row above and
// below, a rim column at each side.
struct Plate {
  float* fields[2];    // symmetric
  uint64_t* arrived;   // symmetric: [0] iterations with the halo from above, [1] from below
  double* row_change;  // symmetric, used on PE 0: [checks][rows] sum of squared changes of each row
  int rows, columns, iterations;
  int first, count;  // my rows
  int above_count;   // rows of the PE above: its last row's place
};

static CHIME_DEVICE float* row_at(const Plate& plate, float* field, int row) {
  return field + static_cast<size_t>(row) * (plate.columns + 2);
}

// Computes row `row` (1..count) of `to`. Returns, in thread 0, the sum of its squared changes: each
// thread adds its columns and thread 0 the threads' sums, in an order that does not depend on the
// number of PEs.
static CHIME_DEVICE double relax_row(const Plate& plate, const float* from, float* to, int row,
                                     double* scratch) {
  const size_t width = plate.columns + 2;
  const float* centre = from + row * width;
  float* out = to + row * width;
  double change = 0;
  for (int x = 1 + exec::thread_rank(); x <= plate.columns; x += exec::block_threads()) {
    out[x] = 0.25f * (centre[x - 1] + centre[x + 1] + centre[x - width] + centre[x + width]);
    const double difference = out[x] - centre[x];
    change += difference * difference;
  }
  scratch[exec::thread_rank()] = change;
  exec::sync_block();
  double sum = 0;
  if (exec::thread_rank() == 0) {
    for (unsigned thread = 0; thread < exec::block_threads(); ++thread) sum += scratch[thread];
  }
  exec::sync_block();
  return sum;
}

// Relaxes a row, and in iterations that are checked writes its change at PE 0.
static CHIME_DEVICE void relax_and_report(const Plate& plate, int iteration, int row,
                                          double* scratch) {
  const double change = relax_row(plate, plate.fields[(iteration - 1) % 2],
                                  plate.fields[iteration % 2], row, scratch);
  if (iteration % kCheckEvery != 0 || exec::thread_rank() != 0) return;
  const int check = iteration / kCheckEvery - 1;
  chime_double_p(plate.row_change + check * plate.rows + plate.first + row - 1, change, 0);
}

// Sends a finished boundary row into the neighbour's halo, and signals its iteration. A neighbour
// can be one iteration ahead but not two: for the next one it needs the row that I send after I
// have read its last one. So two fields are enough.
static CHIME_DEVICE void send_up(const Plate& plate, int iteration) {
  const int me = chime_my_pe();
  if (me == 0) return;
  float* field = plate.fields[iteration % 2];
  chimex_float_put_signal_block(row_at(plate, field, plate.above_count + 1),
                                row_at(plate, field, 1), plate.columns + 2, plate.arrived + 1,
                                iteration, CHIME_SIGNAL_SET, me - 1);
}
static CHIME_DEVICE void send_down(const Plate& plate, int iteration) {
  const int me = chime_my_pe();
  if (me == chime_n_pes() - 1) return;
  float* field = plate.fields[iteration % 2];
  chimex_float_put_signal_block(row_at(plate, field, 0), row_at(plate, field, plate.count),
                                plate.columns + 2, plate.arrived, iteration, CHIME_SIGNAL_SET,
                                me + 1);
}
static CHIME_DEVICE void wait_for_halos(const Plate& plate, int iteration) {
  const int me = chime_my_pe();
  if (me > 0) chime_signal_wait_until(plate.arrived, CHIME_CMP_GE, iteration);
  if (me < chime_n_pes() - 1) {
    chime_signal_wait_until(plate.arrived + 1, CHIME_CMP_GE, iteration);
  }
}

static CHIME_KERNEL void jacobi(Plate plate) {
  CHIME_SHARED_ARRAY(double, scratch, kThreads);
  const int block = exec::block_rank(), blocks = exec::grid_blocks();
  const int bottom_block = plate.count > 1 ? blocks - 1 : 0;  // a single row is top and bottom

  for (int iteration = 1; iteration <= plate.iterations; ++iteration) {
    // The boundary rows first: they are in flight while the inner rows are computed.
    if (block == 0) {
      relax_and_report(plate, iteration, 1, scratch);
      send_up(plate, iteration);
    }
    if (block == bottom_block) {
      if (plate.count > 1) relax_and_report(plate, iteration, plate.count, scratch);
      send_down(plate, iteration);
    }
    for (int row = 2 + block; row < plate.count; row += blocks) {
      relax_and_report(plate, iteration, row, scratch);
    }
    if (block == 0 && exec::thread_rank() == 0) wait_for_halos(plate, iteration);
    exec::sync_grid();  // halos and all rows are complete: the fields may change roles
  }
  chime_quiet();  // completes the changes at PE 0
}

static float rim_value(int row, int column, int columns) {
  const double x = static_cast<double>(column) / (columns + 1);
  return row == 0 ? static_cast<float>(1 + std::sin(M_PI * x)) : 0.0f;
}

// Rows first..first+count+1 of the whole plate (0 is the rim) at the start: rim values, 0 inside.
static std::vector<float> initial_rows(const Options& options, int first, int count) {
  const int width = options.columns + 2;
  std::vector<float> field(static_cast<size_t>(count + 2) * width);
  for (int row = 0; row < count + 2; ++row) {
    for (int x = 0; x < width; ++x)
      field[row * width + x] = rim_value(first + row, x, options.columns);
  }
  return field;
}

// The answer of one PE, computed by plain loops.
static std::vector<float> solve_alone(const Options& options) {
  std::vector<float> from = initial_rows(options, 0, options.rows), to = from;
  const int width = options.columns + 2;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    for (int row = 1; row <= options.rows; ++row) {
      for (int x = 1; x <= options.columns; ++x) {
        const float* centre = &from[row * width + x];
        to[row * width + x] = 0.25f * (centre[-1] + centre[1] + centre[-width] + centre[width]);
      }
    }
    std::swap(from, to);
  }
  return from;
}

[[noreturn]] static void fail(const std::string& what) {
  std::fprintf(stderr, "jacobi, PE %d: %s\n", chimex_host_my_pe(), what.c_str());
  chime_global_exit(1);
  std::abort();
}
// Checks a call of exec, which keeps the message.
static void must(int status, const char* what) {
  if (status != CHIMEX_OK) fail(std::string(what) + ": " + exec::last_error());
}

// A kernel whose wait failed completes, too, but its result is not the answer.
static void must_have_worked() {
  chimex_async_error_t error;
  if (chimex_get_async_error(&error) != CHIMEX_OK) fail(chimex_last_error());
  if (error.status != CHIMEX_OK) fail(std::string("the kernel gave up: ") + error.message);
}

static Plate make_plate(const Options& options) {
  const int me = chime_my_pe(), n = chime_n_pes();
  const Slab mine = slab_of(me, n, options.rows);
  // Symmetric memory has one size: that of the largest slab, PE 0's.
  const size_t bytes =
      sizeof(float) * (slab_of(0, n, options.rows).count + 2) * (options.columns + 2);
  const size_t checks = std::max(1, options.iterations / kCheckEvery);
  Plate plate{
      .fields = {static_cast<float*>(chime_malloc(bytes)),
                 static_cast<float*>(chime_malloc(bytes))},
      .arrived = static_cast<uint64_t*>(chime_calloc(2, sizeof(uint64_t))),
      .row_change = static_cast<double*>(chime_calloc(checks * options.rows, sizeof(double))),
      .rows = options.rows,
      .columns = options.columns,
      .iterations = options.iterations,
      .first = mine.first,
      .count = mine.count,
      .above_count = me > 0 ? slab_of(me - 1, n, options.rows).count : 0};
  const std::vector<float> field = initial_rows(options, mine.first, mine.count);
  for (float* to : plate.fields) {
    must(exec::copy(to, field.data(), field.size() * sizeof(float)), "filling the plate");
  }
  chime_barrier_all();  // no neighbour sends into a halo that is not filled yet
  return plate;
}

static void free_plate(const Plate& plate) {
  chime_free(plate.row_change);
  chime_free(plate.arrived);
  chime_free(plate.fields[1]);
  chime_free(plate.fields[0]);
}

static void run(const Plate& plate) {
  // Collective: kernels that wait for other PEs' kernels, and blocks for blocks, must all be
  // running.
  const exec::LaunchConfig config{.grid = kBlocks, .block = kThreads};
  must(chime::collective_launch(config, jacobi, plate), "launching the kernel");
  must(exec::device_synchronize(), "running the kernel");
  must_have_worked();
  chime_barrier_all();  // every PE's rows and changes are complete
}

static void print_norms(const Plate& plate) {
  const int checks = plate.iterations / kCheckEvery;
  std::vector<double> change(static_cast<size_t>(checks) * plate.rows);
  must(exec::copy(change.data(), plate.row_change, change.size() * sizeof(double)),
       "reading norms");
  for (int check = 0; check < checks; ++check) {
    double sum = 0;
    for (int row = 0; row < plate.rows; ++row) sum += change[check * plate.rows + row];
    std::printf("iteration %5d  norm of the change %.15e\n", (check + 1) * kCheckEvery,
                std::sqrt(sum));
  }
}

// PE 0 reads every PE's rows.
static std::vector<float> gather(const Plate& plate) {
  const size_t width = plate.columns + 2;
  std::vector<float> field;
  std::vector<float> rows;
  for (int pe = 0; pe < chime_n_pes(); ++pe) {
    const Slab slab = slab_of(pe, chime_n_pes(), plate.rows);
    rows.resize(slab.count * width);
    chime_float_get(rows.data(), plate.fields[plate.iterations % 2] + width, rows.size(), pe);
    field.insert(field.end(), rows.begin(), rows.end());
  }
  return field;
}

static uint64_t fnv1a(const std::vector<float>& values) {
  uint64_t hash = 14695981039346656037u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(float); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static void check_against_one_pe(const Options& options, const std::vector<float>& field) {
  const std::vector<float> alone = solve_alone(options);
  const size_t width = options.columns + 2;
  for (size_t i = 0; i < field.size(); ++i) {
    if (std::memcmp(&field[i], &alone[width + i], sizeof(float)) == 0) continue;
    fail("row " + std::to_string(i / width + 1) + ", column " + std::to_string(i % width) + " is " +
         std::to_string(field[i]) + ", a single PE has " + std::to_string(alone[width + i]));
  }
  std::printf("field %016lx, equal to the answer of one PE bit for bit\n",
              static_cast<unsigned long>(fnv1a(field)));
}

static bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    int* value = name == "--rows"         ? &options->rows
                 : name == "--columns"    ? &options->columns
                 : name == "--iterations" ? &options->iterations
                                          : nullptr;
    if (value == nullptr || i + 1 == argc || (*value = std::atoi(argv[i + 1])) < 1) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr, "usage: %s [--rows N] [--columns N] [--iterations N]\n", argv[0]);
    return 2;
  }
  chime_init();
  if (options.rows < chime_n_pes()) {
    fail("--rows " + std::to_string(options.rows) + " is less than one row for each of " +
         std::to_string(chime_n_pes()) + " PEs");
  }
  const Plate plate = make_plate(options);
  run(plate);
  if (chime_my_pe() == 0) {
    print_norms(plate);
    check_against_one_pe(options, gather(plate));
  }
  chime_barrier_all();
  free_plate(plate);
  chime_finalize();
  return 0;
}
