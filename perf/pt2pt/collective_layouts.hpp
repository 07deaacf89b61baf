// Tables of one collective in the layouts that parsers of OSU's benchmarks and of nccl-tests know.
//
// Columns have the names and the order that these programs print; title and notes are Chime's.
// nccl-tests counts all of a member's larger array as the size, and one block as the count.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "collective_job.hpp"
#include "collectives.hpp"
#include "table.hpp"

namespace chime::perf {

// Without `in_place` the call has no such form.
struct Figures {
  Figure apart;
  std::optional<Figure> in_place;
};

struct Subject {
  Collective kind;
  int n_pes;
  std::string form;  // in words
};

inline void print_subject(const Subject& subject, const char* what) {
  std::printf("\n# Chime %s %s, %d PEs, %s\n", name_of(subject.kind), what, subject.n_pes,
              subject.form.c_str());
}

// As osu_allreduce -f and its siblings: times of the PEs.
struct OsuLatency {
  Subject subject;

  void print_header() const {
    print_subject(subject, "Latency Test");
    std::printf("# %-8s%18s%18s%18s%12s\n", "Size", "Avg Latency(us)", "Min Latency(us)",
                "Max Latency(us)", "Iterations");
  }
  void row(Size size, const Figures& figures) const {
    const Times& us = figures.apart.us;
    std::printf("%-10zu%18.2f%18.2f%18.2f%12d\n", size.bytes, us.mean, us.shortest, us.longest,
                figures.apart.iterations);
    std::fflush(stdout);
  }
};

// In the layout of osu_bw, for OSU's collectives have none.
struct OsuBandwidth {
  Subject subject;

  void print_header() const {
    print_subject(subject, "Bandwidth Test");
    std::printf("# algbw; %s\n# %-8s%18s\n", kLongestOfPes, "Size", "Bandwidth (MB/s)");
  }
  void row(Size size, const Figures& figures) const {
    std::printf(
        "%-10zu%18.2f\n", size.bytes,
        1000 * alg_gigabytes(subject.kind, size.bytes, subject.n_pes, figures.apart.us.longest));
  }
};

// As all_reduce_perf -c 0 and its siblings: nothing is compared, so #wrong is N/A.
class NcclTests {
 public:
  explicit NcclTests(Subject subject) : subject_(std::move(subject)) {}
  ~NcclTests() {
    if (rows_ > 0) std::printf("# Avg bus bandwidth    : %g\n", bus_gigabytes_ / rows_);
  }
  NcclTests(const NcclTests&) = delete;

  void print_header() const {
    print_subject(subject_, "as nccl-tests prints it");
    std::printf("# %s\n# %s\n#\n", kLongestOfPes, kBusFactors);
    std::printf("#%64s%32s\n", "out-of-place", "in-place");
    std::printf("#%11s%14s%10s%8s%8s", "size", "count", "type", "redop", "root");
    for (int i = 0; i < 2; ++i) std::printf("%9s%8s%8s%7s", "time", "algbw", "busbw", "#wrong");
    std::printf("\n#%11s%14s%10s%8s%8s", "(B)", "(elements)", "", "", "");
    for (int i = 0; i < 2; ++i) std::printf("%9s%8s%8s%7s", "(us)", "(GB/s)", "(GB/s)", "");
    std::printf("\n");
  }

  void row(Size size, const Figures& figures) {
    const bool combines = subject_.kind == Collective::kReduce ||
                          subject_.kind == Collective::kReducescatter || is_scan(subject_.kind);
    std::printf("%12zu%14zu%10s%8s%8d", array_bytes(subject_.kind, size.bytes, subject_.n_pes),
                size.bytes / sizeof(float), "float", combines ? "sum" : "none",
                subject_.kind == Collective::kBroadcast ? 0 : -1);
    print(size, figures.apart);
    if (figures.in_place) {
      print(size, *figures.in_place);
    } else {
      std::printf("%9s%8s%8s%7s", "N/A", "N/A", "N/A", "N/A");
    }
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  void print(Size size, const Figure& figure) {
    const double us = figure.us.longest;
    const double bus = bus_gigabytes(subject_.kind, size.bytes, subject_.n_pes, us);
    std::printf("%9.2f%8.2f%8.2f%7s", us,
                alg_gigabytes(subject_.kind, size.bytes, subject_.n_pes, us), bus, "N/A");
    bus_gigabytes_ += bus;
    ++rows_;
  }

  const Subject subject_;
  double bus_gigabytes_ = 0;
  int rows_ = 0;
};

}  // namespace chime::perf
