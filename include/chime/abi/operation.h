// The operations of the API, by which an error or a timeline names its operation. The forms of all
// types and groups have one number, because they share one template.
#ifndef CHIME_ABI_OPERATION_H_
#define CHIME_ABI_OPERATION_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

// X(enumerator, the specification's name of the family). Used by: the enumeration below, and the
// host's messages (host/errors/operation_name.hpp).
#define CHIME_FOR_OPERATIONS(X)                                  \
  X(kPut, "chime_put")                                           \
  X(kPutNbi, "chime_put_nbi")                                    \
  X(kGet, "chime_get")                                           \
  X(kGetNbi, "chime_get_nbi")                                    \
  X(kP, "chime_p")                                               \
  X(kG, "chime_g")                                               \
  X(kIput, "chime_iput")                                         \
  X(kIget, "chime_iget")                                         \
  X(kPutSignal, "chime_put_signal")                              \
  X(kPutSignalNbi, "chime_put_signal_nbi")                       \
  X(kSignalOp, "chimex_signal_op")                               \
  X(kSignalFetch, "chime_signal_fetch")                          \
  X(kSignalWaitUntil, "chime_signal_wait_until")                 \
  X(kSignalWaitUntilTimeout, "chimex_signal_wait_until_timeout") \
  X(kAtomicFetch, "chime_atomic_fetch")                          \
  X(kAtomicSet, "chime_atomic_set")                              \
  X(kAtomicInc, "chime_atomic_inc")                              \
  X(kAtomicAdd, "chime_atomic_add")                              \
  X(kAtomicAnd, "chime_atomic_and")                              \
  X(kAtomicOr, "chime_atomic_or")                                \
  X(kAtomicXor, "chime_atomic_xor")                              \
  X(kAtomicFetchInc, "chime_atomic_fetch_inc")                   \
  X(kAtomicFetchAdd, "chime_atomic_fetch_add")                   \
  X(kAtomicFetchAnd, "chime_atomic_fetch_and")                   \
  X(kAtomicFetchOr, "chime_atomic_fetch_or")                     \
  X(kAtomicFetchXor, "chime_atomic_fetch_xor")                   \
  X(kAtomicSwap, "chime_atomic_swap")                            \
  X(kAtomicCompareSwap, "chime_atomic_compare_swap")             \
  X(kWaitUntil, "chime_wait_until")                              \
  X(kWaitUntilTimeout, "chimex_wait_until_timeout")              \
  X(kWaitUntilAll, "chime_wait_until_all")                       \
  X(kWaitUntilAny, "chime_wait_until_any")                       \
  X(kWaitUntilSome, "chime_wait_until_some")                     \
  X(kWaitUntilAllVector, "chime_wait_until_all_vector")          \
  X(kWaitUntilAnyVector, "chime_wait_until_any_vector")          \
  X(kWaitUntilSomeVector, "chime_wait_until_some_vector")        \
  X(kTest, "chime_test")                                         \
  X(kTestAll, "chime_test_all")                                  \
  X(kTestAny, "chime_test_any")                                  \
  X(kTestSome, "chime_test_some")                                \
  X(kTestAllVector, "chime_test_all_vector")                     \
  X(kTestAnyVector, "chime_test_any_vector")                     \
  X(kTestSomeVector, "chime_test_some_vector")                   \
  X(kFence, "chime_fence")                                       \
  X(kQuiet, "chime_quiet")                                       \
  X(kBarrierAll, "chime_barrier_all")                            \
  X(kSyncAll, "chime_sync_all")                                  \
  X(kTeamMyPe, "chime_team_my_pe")                               \
  X(kTeamNPes, "chime_team_n_pes")                               \
  X(kTeamTranslatePe, "chime_team_translate_pe")                 \
  X(kBarrier, "chime_barrier")                                   \
  X(kTeamSync, "chime_team_sync")                                \
  X(kTeamPtr, "chime_team_ptr")                                  \
  X(kTeamSplit, "chime_team_split")                              \
  X(kReduce, "chime_reduce")                                     \
  X(kReducescatter, "chime_reducescatter")                       \
  X(kBroadcast, "chime_broadcast")                               \
  X(kFcollect, "chime_fcollect")                                 \
  X(kAlltoall, "chime_alltoall")                                 \
  X(kInscan, "chime_inscan")                                     \
  X(kExscan, "chime_exscan")                                     \
  X(kCollect, "chime_collect")                                   \
  X(kAlltoalls, "chime_alltoalls")                               \
  X(kAlltoallv, "chimex_alltoallv")

namespace chime {

enum class Operation : std::uint16_t {
  kNone = 0,
#define CHIME_OPERATION(ENUMERATOR, NAME) ENUMERATOR,
  CHIME_FOR_OPERATIONS(CHIME_OPERATION)
#undef CHIME_OPERATION
};

namespace abi {

// What the timeline (CHIME_TRACE) shows of one operation of device code. On a GPU the compiler
// throws it away.
struct TracedWork {
  Operation operation = Operation::kNone;
  int pe = -1;                    // the other PE; -1: none, or not known
  const void* address = nullptr;  // the symmetric word that a signal or atomic updates, or the
                                  // first that a wait watches; null: none
  std::size_t bytes = 0;          // moved; of a wait: watched
  std::uint64_t value = 0;  // of a signal or atomic; a wait compares with it; a meeting's team
  int how = 0;              // SignalOp; Cmp of a wait
};

}  // namespace abi

}  // namespace chime

#endif  // CHIME_ABI_OPERATION_H_
