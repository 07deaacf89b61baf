// Bus bandwidth, as nccl-tests has it: the bytes that each PE must send at least, by the time of a
// call. So figures of different numbers of PEs, and of different kinds, may be compared.
#pragma once

#include <cstddef>

namespace chime::perf {

enum class Collective { kReduce, kReducescatter, kBroadcast, kFcollect, kAlltoall, kScan };

// GB/s of a call in which a member has `bytes`: of alltoall, fcollect and reducescatter in each of
// its blocks.
inline double bus_gigabytes(Collective kind, std::size_t bytes, int n_pes, double us) {
  const double others = n_pes - 1, all = n_pes;
  const bool sends_its_own = kind == Collective::kBroadcast || kind == Collective::kScan;
  const double sent = kind == Collective::kReduce ? 2 * others / all : sends_its_own ? 1 : others;
  return sent * static_cast<double>(bytes) / us / 1000;
}

}  // namespace chime::perf
