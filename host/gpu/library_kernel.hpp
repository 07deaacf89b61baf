// The kernels that libchime itself launches on a GPU, and their arguments. Their code is
// host/ops/library_kernels.cu; a device hands it to its driver once, before anything runs.
#pragma once

#include <cstdint>

#include "chime/abi/context.h"

namespace chime::host {

// One thread each. All but kSignal take a Context and then the call.
enum class LibraryKernel { kSignal, kSignalWait, kSync, kAmo };
inline constexpr int kLibraryKernels = 4;

// Their names in the driver's module, by number.
inline constexpr const char* kLibraryKernelNames[kLibraryKernels] = {
    "chime_library_signal", "chime_library_signal_wait", "chime_library_sync", "chime_library_amo"};

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

// A barrier (Operation::kBarrierAll) or sync (kSyncAll) over all PEs, or a quiet (kQuiet) of this
// one's kernels.
struct SyncCall {
  Operation operation;
};

// One atomic operation on `pe`'s word at symmetric address `word`.
struct AmoCall {
  std::int32_t op;      // chime_amo_op
  std::uint32_t fetch;  // 0: the old value is not asked for
  void* word;
  std::int32_t width;  // 4 or 8 bytes
  std::int32_t pe;
  std::uint64_t operand, compare;  // bits, zero-extended
  std::uint64_t* old;              // memory that the host sees, too; null on the host
};

}  // namespace chime::host
