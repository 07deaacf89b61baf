// The kernels that libchime itself launches on a GPU, and their arguments. Their code is
// host/ops/library.cu; a device hands it to its driver once, before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/amo_op.h"
#include "chime/abi/context.h"
#include "chime/host_ops.h"

namespace chime::host {

// All but kSignal and kUpdate take a Context and then the call.
enum class LibraryKernel {
  kSignal,
  kSignalWait,
  kWait,
  kSync,
  kAmo,
  kMove,
  kStrided,
  kElement,
  kSignalOp,
  kUpdate,
  kUpdateByNic,
  kCollect
};
inline constexpr int kLibraryKernels = 12;

// Their names in the driver's module, by number.
inline constexpr const char* kLibraryKernelNames[kLibraryKernels] = {
    "chime_library_signal",  "chime_library_signal_wait",   "chime_library_wait",
    "chime_library_sync",    "chime_library_amo",           "chime_library_move",
    "chime_library_strided", "chime_library_element",       "chime_library_signal_op",
    "chime_library_update",  "chime_library_update_by_nic", "chime_library_collect"};

// One block of so many: where elements wait for their answers one by one, a warp's wait together.
constexpr unsigned threads_of(LibraryKernel kernel) {
  if (kernel == LibraryKernel::kCollect) return 256;
  return kernel == LibraryKernel::kStrided ? 32 : 1;
}

// *word = value (or += value), after all that came before on the stream. `word` is where it is
// mapped.
struct SignalCall {
  std::uint64_t* word;
  std::uint64_t value;
  std::uint32_t adds;
};

// chime_signal_wait_until on this PE's word.
struct SignalWaitCall {
  std::uint64_t* word;
  std::uint64_t value;
  std::int32_t cmp;  // CHIME_CMP_*
};

// A wait for one element of this PE's, or for all of several.
struct WaitCall {
  Operation operation;
  std::uint64_t value;         // where the request has one for all elements
  chime_wait_request request;  // its other arrays are memory that kernels reach
};

// A quiet (Operation::kQuiet) of this PE's kernels; a barrier (kBarrierAll) or sync (kSyncAll) of
// all PEs; the same of a team (kBarrier, kTeamSync); or what its members agree on (kTeamSplit).
struct SyncCall {
  Operation operation;
  std::int32_t team = 0;           // the handle, with its lane
  std::uint32_t agreed_words = 0;  // of kTeamSplit; 0: they confirm that all have agreed
};

// A collective of a team. REQUIRES: collective_exists(request) (host/ops).
struct CollectCall {
  chime_collective_request request;
  bool has_own_bound = false;
  std::uint64_t timeout_ns = 0;     // the bound; 0: there is none
  std::uint64_t* status = nullptr;  // memory that the host sees, too; null: the record is enough
};

// One atomic operation on `pe`'s word at symmetric address `word`.
struct AmoCall {
  std::int32_t op;      // chime_amo_op
  std::uint32_t fetch;  // 0: the old value is not asked for
  void* word;
  std::int32_t width;  // 2, 4 or 8 bytes
  std::int32_t pe;
  std::uint64_t operand, compare;  // bits, zero-extended
  std::uint64_t* old;              // memory that the host sees, too; null on the host
};

// When a kernel may end that carries out a call of the host, for which a stream or the caller
// waits.
enum class Ends : std::uint32_t {
  kAsItSays,  // what the operation promises by itself, for work of a stream
  kComplete,  // at the PE: nothing is left to do when the host's call returns
};

// A signal at `pe`, by whichever path leads there; of a stream, behind everything that was sent
// there before.
struct SignalOpCall {
  std::uint64_t* word;  // symmetric
  std::uint64_t value;
  std::int32_t op;  // CHIME_SIGNAL_*
  std::int32_t pe;
  Ends ends;
};

// kPut, kPutNbi, kGet, kPutSignal or kPutSignalNbi, of bytes between `pe` and memory here that
// kernels reach.
struct MoveCall {
  Operation operation;
  std::int32_t pe;
  void* dst;
  const void* src;
  std::size_t bytes;
  Ends ends;
  std::int32_t signal_op;  // what follows: of kPutSignal and kPutSignalNbi
  std::uint64_t* signal;
  std::uint64_t value;
  std::uint32_t* room_is_left;  // set where the path is lost by then; null: it is in no room
};

// kIput or kIget, likewise.
struct StridedCall {
  Operation operation;
  std::int32_t pe;
  void* dst;
  const void* src;
  std::ptrdiff_t dst_stride, src_stride;  // in elements
  std::size_t count;
  std::uint32_t element_bytes;
};

// kP or kG: an element that the call carries, or gives.
struct ElementCall {
  Operation operation;
  std::int32_t pe;
  void* symmetric;
  std::uint32_t bytes;     // 1, 2, 4, 8 or 16
  std::uint64_t value[2];  // of kP, low bytes first
  std::uint64_t* result;   // of kG: two words of memory that the host sees, too
};

// Updates of words of this PE's heap that peers have asked its host for, in this order.
struct UpdateCall {
  static constexpr std::uint32_t kMost = 32;
  struct Update {
    void* word;  // of 4 or 8 bytes
    std::uint64_t operand, compare;
    std::uint64_t* before;  // memory that the host sees, too; null: nobody wants it
    AmoOp op;
    std::uint32_t bytes;
  };
  std::uint32_t* has_failed;  // likewise: set where a NIC that is to update does not any more
  std::uint32_t count;
  Update updates[kMost];
};
static_assert(sizeof(UpdateCall) <= 4096, "what a launch may have");

}  // namespace chime::host
