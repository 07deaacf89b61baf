// The collectives that are measured, and their bandwidth as nccl-tests defines it:
//
//   algbw  the bytes of a member's larger array, by the time of a call
//   busbw  algbw times a factor, which leaves the bytes that a member must send at least. So
//          figures of different kinds, and of different numbers of PEs, may be compared.
//
// nccl-tests has no scans: here they count as broadcasts.
#pragma once

#include <array>
#include <cstddef>

namespace chime::perf {

enum class Collective {
  kBarrier,  // moves no data
  kReduce,
  kReducescatter,
  kBroadcast,
  kFcollect,
  kAlltoall,
  kInscan,
  kExscan,
  kCollect,
  kAlltoalls,
  kAlltoallv
};

inline constexpr std::array kWithData = {Collective::kReduce,    Collective::kReducescatter,
                                         Collective::kBroadcast, Collective::kFcollect,
                                         Collective::kAlltoall,  Collective::kInscan,
                                         Collective::kExscan,    Collective::kCollect,
                                         Collective::kAlltoalls, Collective::kAlltoallv};

inline const char* name_of(Collective kind) {
  constexpr std::array kNames = {"barrier",  "reduce",    "reducescatter", "broadcast",
                                 "fcollect", "alltoall",  "inscan",        "exscan",
                                 "collect",  "alltoalls", "alltoallv"};
  return kNames[static_cast<std::size_t>(kind)];
}

inline bool is_scan(Collective kind) {
  return kind == Collective::kInscan || kind == Collective::kExscan;
}
// Whether `dst` may be `src`.
inline bool is_allowed_in_place(Collective kind) {
  return kind == Collective::kReduce || is_scan(kind);
}
// Whether one of a member's arrays has a block for each member.
inline bool has_blocks(Collective kind) {
  return kind != Collective::kReduce && kind != Collective::kBroadcast && !is_scan(kind);
}

// `bytes`: of a member, or of each block.
inline std::size_t array_bytes(Collective kind, std::size_t bytes, int n_pes) {
  return has_blocks(kind) ? bytes * static_cast<std::size_t>(n_pes) : bytes;
}

inline double alg_gigabytes(Collective kind, std::size_t bytes, int n_pes, double us) {
  return static_cast<double>(array_bytes(kind, bytes, n_pes)) / us / 1000;
}

inline constexpr const char* kBusFactors =
    "busbw / algbw of n PEs, as in nccl-tests: reduce 2(n-1)/n; broadcast and scans 1; others "
    "(n-1)/n";
inline double bus_factor(Collective kind, int n_pes) {
  const double others = n_pes - 1;
  if (kind == Collective::kReduce) return 2 * others / n_pes;
  return has_blocks(kind) ? others / n_pes : 1;
}

inline double bus_gigabytes(Collective kind, std::size_t bytes, int n_pes, double us) {
  return alg_gigabytes(kind, bytes, n_pes, us) * bus_factor(kind, n_pes);
}

}  // namespace chime::perf
