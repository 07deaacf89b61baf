// coll_mpi: what coll_lat and coll_bw measure, by the collectives of MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{8} << 20;

struct Kind {
  Collective kind;
  const char* name;  // MPI's
};
constexpr std::array kKinds = {
    Kind{Collective::kReduce, "allreduce"},    Kind{Collective::kReducescatter, "reducescatter"},
    Kind{Collective::kBroadcast, "bcast"},     Kind{Collective::kFcollect, "allgather"},
    Kind{Collective::kAlltoall, "alltoall"},   Kind{Collective::kInscan, "scan"},
    Kind{Collective::kExscan, "exscan"},       Kind{Collective::kCollect, "allgatherv"},
    Kind{Collective::kAlltoallv, "alltoallv"},
};

// `n`: elements of each process, or of each block.
struct Call {
  float* dst;
  const float* src;
  int n;
  std::vector<int> counts, offsets;
};

void call_once(Collective kind, const Call& call) {
  const MPI_Datatype type = MPI_FLOAT;
  const MPI_Comm all = MPI_COMM_WORLD;
  float* const dst = call.dst;
  const float* const src = call.src;
  const int n = call.n;
  const int *const counts = call.counts.data(), *const offsets = call.offsets.data();
  if (kind == Collective::kReduce) MPI_Allreduce(src, dst, n, type, MPI_SUM, all);
  if (kind == Collective::kReducescatter) MPI_Reduce_scatter_block(src, dst, n, type, MPI_SUM, all);
  if (kind == Collective::kInscan) MPI_Scan(src, dst, n, type, MPI_SUM, all);
  if (kind == Collective::kExscan) MPI_Exscan(src, dst, n, type, MPI_SUM, all);
  if (kind == Collective::kBroadcast) MPI_Bcast(dst, n, type, 0, all);
  if (kind == Collective::kFcollect) MPI_Allgather(src, n, type, dst, n, type, all);
  if (kind == Collective::kCollect) MPI_Allgatherv(src, n, type, dst, counts, offsets, type, all);
  if (kind == Collective::kAlltoall) MPI_Alltoall(src, n, type, dst, n, type, all);
  if (kind == Collective::kAlltoallv)
    MPI_Alltoallv(src, counts, offsets, type, dst, counts, offsets, type, all);
}

// The longest of the processes' times of a call.
double longest_us(Collective kind, const Call& call, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) call_once(kind, call);
  double us = (MPI_Wtime() - start) / iterations * 1e6;
  MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return us;
}

double best_us(const Options& options, Collective kind, const Call& call) {
  const int iterations = options.iterations(call.n > 1024 ? 100 : 2000);
  double best = kNotMeasured;
  for (int r = 0; r < options.repeats; ++r) {
    const double us = longest_us(kind, call, iterations);
    best = r == 0 ? us : std::min(best, us);
  }
  return best;
}

std::vector<std::string> columns() {
  std::vector<std::string> all;
  for (const char* unit : {" (us)", " (GB/s)"})
    for (const Kind& each : kKinds) all.push_back(each.name + std::string(unit));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = kMost / 8;
  parse(options, argc, argv, "Collectives of MPI", true);
  MPI_Init(&argc, &argv);
  int n_pes = 0, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n_pes);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const std::size_t all = static_cast<std::size_t>(n_pes) * options.max_bytes / sizeof(float);
  std::vector<float> src(all + 1), dst(all + 1);
  Table table("collectives of MPI, " + std::to_string(n_pes) + " processes", "size", columns(),
              {"one call; a figure is the longest of the processes' times, best of " +
                   std::to_string(options.repeats) + " repeats; bus bandwidth",
               kBusFactors, "size: bytes of a process, of float, or of each block"});
  sweep(table, options, me == 0, sizes_of(options, 8), [&](const Options& chosen, Size size) {
    const int n = static_cast<int>(size.bytes / sizeof(float));
    Call call = {dst.data(), src.data(), n, {}, {}};
    for (int r = 0; r < n_pes; ++r) {
      call.counts.push_back(n);
      call.offsets.push_back(r * n);
    }
    std::vector<double> row;
    for (const Kind& each : kKinds) row.push_back(best_us(chosen, each.kind, call));
    for (std::size_t i = 0; i < kKinds.size(); ++i)
      row.push_back(bus_gigabytes(kKinds[i].kind, size.bytes, n_pes, row[i]));
    return row;
  });
  const bool written = me != 0 || table.write_json(options.json);
  MPI_Finalize();
  return written ? 0 : 1;
}
