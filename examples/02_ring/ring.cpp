// Ring: the sum of a vector over all PEs, by one kernel launch on each PE. The kernels pass chunks
// of the vector round a ring with put_signal and wait for each other; the host does nothing until
// every PE has the sum.
//
// The vector has one chunk for each PE. First n-1 steps add: in step s a PE sends chunk (me - s) to
// its right neighbour, which adds it to its own. Then chunk (me + 1) is the whole sum here, and n-1
// more steps copy the sums on. README.md shows three PEs, and why a chunk is never overwritten
// before it was sent.
#include <chime/chime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace exec = chime::exec;

constexpr int kBlocks = 4;
constexpr int kThreads = 64;

// Symmetric memory of one PE. `arrived` has a counter for each block, so that blocks need not wait
// for each other: block b of a PE talks only to block b of its neighbours.
struct Ring {
  long* vector;       // [n_pes][chunk]
  long* inbox;        // [n_pes - 1][chunk], one chunk for each adding step
  uint64_t* arrived;  // [kBlocks] steps for which the left neighbour's data is here
  size_t chunk;
};

// A block's part of each chunk: elements [begin, begin + count).
struct Share {
  size_t begin, count;
};

static CHIME_DEVICE Share share_of_block(size_t chunk) {
  const size_t block = exec::block_rank(), blocks = exec::grid_blocks();
  const size_t begin = chunk * block / blocks, end = chunk * (block + 1) / blocks;
  return {begin, end - begin};
}

// Sends my share of chunk `from` to `to` at the right neighbour, with a signal that `step` has
// come. Returns when the left neighbour's data of that step is here.
static CHIME_DEVICE void pass_on(const Ring& ring, long* to, const long* from, size_t count,
                                 uint64_t step) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  uint64_t* arrived = ring.arrived + exec::block_rank();
  chimex_long_put_signal_block(to, from, count, arrived, step, CHIME_SIGNAL_SET, right);
  chimex_signal_wait_until_block(arrived, CHIME_CMP_GE, step);
}

static CHIME_KERNEL void ring_sum(Ring ring) {
  const int me = chime_my_pe(), n = chime_n_pes();
  const Share mine = share_of_block(ring.chunk);
  const auto share_of = [&](long* base, int chunk) {
    return base + static_cast<size_t>(chunk) * ring.chunk + mine.begin;
  };
  uint64_t step = 0;

  for (int s = 0; s < n - 1; ++s) {
    long* inbox = share_of(ring.inbox, s);
    pass_on(ring, inbox, share_of(ring.vector, (me - s + n) % n), mine.count, ++step);
    long* sum = share_of(ring.vector, (me - s - 1 + n) % n);
    for (size_t i = exec::thread_rank(); i < mine.count; i += exec::block_threads()) {
      sum[i] += inbox[i];
    }
    exec::sync_block();
  }

  for (int s = 0; s < n - 1; ++s) {
    long* sum = share_of(ring.vector, (me + 1 - s + n) % n);
    pass_on(ring, sum, sum, mine.count, ++step);
  }
}

// Element i of PE `pe` before the sum.
static long value(int pe, size_t i) { return 1000L * pe + static_cast<long>(i % 997); }

static bool failed(const char* what) {
  std::fprintf(stderr, "PE %d: %s: %s\n", chime_my_pe(), what, exec::last_error());
  return false;
}

// A kernel whose wait failed completes, too, but its result is not the sum.
static bool kernel_worked() {
  chimex_async_error_t error;
  if (exec::device_synchronize() != CHIMEX_OK) return failed("waiting for the kernel");
  if (chimex_get_async_error(&error) != CHIMEX_OK) return false;  // it has printed why
  if (error.status == CHIMEX_OK) return true;
  std::fprintf(stderr, "PE %d: the kernel gave up: %s\n", chime_my_pe(), error.message);
  chime_global_exit(1);
  return false;
}

static bool fill_sum_and_check(const Ring& ring) {
  const int me = chime_my_pe(), n = chime_n_pes();
  std::vector<long> vector(ring.chunk * n);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] = value(me, i);
  if (exec::copy(ring.vector, vector.data(), vector.size() * sizeof(long)) != CHIMEX_OK) {
    return failed("copying in");
  }
  chime_barrier_all();  // no neighbour's kernel meets a vector that is not filled yet

  // Collective: kernels that wait for other PEs' kernels must all be running.
  const exec::LaunchConfig config{.grid = kBlocks, .block = kThreads};
  if (chime::collective_launch(config, ring_sum, ring) != CHIMEX_OK) return failed("launching");
  if (!kernel_worked()) return false;
  if (exec::copy(vector.data(), ring.vector, vector.size() * sizeof(long)) != CHIMEX_OK) {
    return failed("copying out");
  }

  for (size_t i = 0; i < vector.size(); ++i) {
    long expected = 0;
    for (int pe = 0; pe < n; ++pe) expected += value(pe, i);
    if (vector[i] == expected) continue;
    std::fprintf(stderr, "PE %d: element %zu is %ld, expected %ld\n", me, i, vector[i], expected);
    return false;
  }
  return true;
}

int main(int argc, char** argv) {
  const long chunk = argc > 1 ? std::atol(argv[1]) : 10000;
  if (argc > 2 || chunk < 1) {
    std::fprintf(stderr, "usage: %s [longs in a chunk, default 10000]\n", argv[0]);
    return 2;
  }
  chime_init();
  const int n = chime_n_pes();
  Ring ring{};
  ring.chunk = static_cast<size_t>(chunk);
  ring.vector = static_cast<long*>(chime_malloc(ring.chunk * n * sizeof(long)));
  ring.inbox = static_cast<long*>(chime_malloc(ring.chunk * std::max(n - 1, 1) * sizeof(long)));
  ring.arrived = static_cast<uint64_t*>(chime_calloc(kBlocks, sizeof(uint64_t)));

  const bool ok = fill_sum_and_check(ring);
  if (ok && chime_my_pe() == 0) {
    std::printf("%d PEs: the sum of %zu longs is right on every PE that says nothing else\n", n,
                ring.chunk * n);
  }
  chime_free(ring.arrived);
  chime_free(ring.inbox);
  chime_free(ring.vector);
  chime_finalize();
  return ok ? 0 : 1;
}
