// coll_mpi: what coll_lat and coll_bw measure, by the collectives of MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bus_bandwidth.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{8} << 20;
constexpr std::array kKinds = {Collective::kReduce,    Collective::kReducescatter,
                               Collective::kBroadcast, Collective::kFcollect,
                               Collective::kAlltoall,  Collective::kScan};

void call(Collective kind, float* dst, const float* src, int n) {
  if (kind == Collective::kReduce) MPI_Allreduce(src, dst, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (kind == Collective::kReducescatter)
    MPI_Reduce_scatter_block(src, dst, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (kind == Collective::kScan) MPI_Scan(src, dst, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (kind == Collective::kBroadcast) MPI_Bcast(dst, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (kind == Collective::kFcollect)
    MPI_Allgather(src, n, MPI_FLOAT, dst, n, MPI_FLOAT, MPI_COMM_WORLD);
  if (kind == Collective::kAlltoall)
    MPI_Alltoall(src, n, MPI_FLOAT, dst, n, MPI_FLOAT, MPI_COMM_WORLD);
}

double best_us(const Options& options, Collective kind, float* dst, const float* src, int n) {
  const int iterations = options.iterations(n > 1024 ? 100 : 2000);
  double best = kNotMeasured;
  for (int r = 0; r < options.repeats; ++r) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < iterations; ++i) call(kind, dst, src, n);
    const double us = (MPI_Wtime() - start) / iterations * 1e6;
    best = r == 0 ? us : std::min(best, us);
  }
  return best;
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
  Table table(
      "collectives of MPI, " + std::to_string(n_pes) + " processes", "size",
      {"allreduce (us)", "reducescatter", "bcast", "allgather", "alltoall", "scan (us)",
       "allreduce (GB/s)", "reducescatter", "bcast", "allgather", "alltoall", "scan (GB/s)"},
      {"one call, best of " + std::to_string(options.repeats) + " repeats; bus bandwidth",
       "size: bytes of a process, of float, or of each block"});
  sweep(table, options, me == 0, sizes_of(options, 8), [&](const Options& chosen, Size size) {
    std::vector<double> row;
    for (const Collective kind : kKinds)
      row.push_back(best_us(chosen, kind, dst.data(), src.data(),
                            static_cast<int>(size.bytes / sizeof(float))));
    for (std::size_t i = 0; i < kKinds.size(); ++i)
      row.push_back(bus_gigabytes(kKinds[i], size.bytes, n_pes, row[i]));
    return row;
  });
  const bool written = me != 0 || table.write_json(options.json);
  MPI_Finalize();
  return written ? 0 : 1;
}
