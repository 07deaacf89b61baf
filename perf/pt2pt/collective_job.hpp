// The memory of a benchmark of collectives, and its measurement of one call of one size.
#pragma once

#include <chime/chime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <optional>
#include <vector>

#include "collective_calls.cuh"
#include "options.hpp"
#include "times_of_pes.hpp"

namespace chime::perf {

// One call in the best loop, which has `iterations`.
struct Figure {
  Times us;
  int iterations;
};

// Made, used and ended by all PEs at once.
class CollectiveJob {
 public:
  // `most`: the largest size, in bytes, of a member or of each block.
  explicit CollectiveJob(std::size_t most)
      : n_pes_(chime_n_pes()),
        dst_(symmetric<float>(blocks() * most)),
        src_(symmetric<float>(blocks() * most * kSrcStride)),
        counts_(symmetric<std::size_t>(kRows * blocks() * sizeof(std::size_t))) {}
  ~CollectiveJob() {
    chime_free(counts_);
    chime_free(src_);
    chime_free(dst_);
  }
  CollectiveJob(const CollectiveJob&) = delete;

  int n_pes() const { return n_pes_; }

  Figure measure(const Options& options, Form form, Collective kind, std::size_t bytes,
                 bool is_in_place = false) {
    const Call call = call_of(kind, bytes / sizeof(float), is_in_place);
    const int iterations = options.iterations(iterations_of(bytes));
    return best(options, iterations, [&] { return call_us(form, call, iterations); });
  }

  // The best of the repeats, each `us()` by all PEs at once.
  template <class Us>
  Figure best(const Options& options, int iterations, Us us) {
    std::optional<Times> least;
    for (int r = 0; r < options.repeats; ++r) {
      const Times times = times_.gather(us());
      if (!least || times.longest < least->longest) least = times;
    }
    return {*least, iterations};
  }

  // Fewer where PEs share cores, or data is long.
  int iterations_of(std::size_t bytes) const { return n_pes_ > 2 || bytes > 4096 ? 200 : 2000; }

  float* dst() const { return dst_; }
  const float* src() const { return src_; }

 private:
  static constexpr std::size_t kRows = 3;  // of counts_: from each, to each, offsets of both

  std::size_t blocks() const { return static_cast<std::size_t>(n_pes_); }

  template <class T>
  static T* symmetric(std::size_t bytes) {
    void* const memory = chime_calloc(bytes, 1);
    if (memory != nullptr) return static_cast<T*>(memory);
    std::fprintf(stderr, "symmetric memory: %s\n", chimex_last_error());
    chime_global_exit(1);
    return nullptr;
  }

  Call call_of(Collective kind, std::size_t n, bool is_in_place) {
    if (kind == Collective::kAlltoallv) fill_counts(n);
    return {kind,
            dst_,
            is_in_place ? dst_ : src_,
            n,
            counts_,
            counts_ + blocks(),
            counts_ + 2 * blocks()};
  }
  void fill_counts(std::size_t n) {
    std::vector<std::size_t> rows(kRows * blocks(), n);
    for (std::size_t r = 0; r < blocks(); ++r) rows[2 * blocks() + r] = r * n;
    exec::copy(counts_, rows.data(), rows.size() * sizeof(std::size_t));
  }

  const int n_pes_;
  float *const dst_, *const src_;
  std::size_t* const counts_;
  TimesOfPes times_;
};

}  // namespace chime::perf
