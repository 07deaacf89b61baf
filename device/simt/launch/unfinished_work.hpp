// How much work each PE's threads have queued that has not ended yet, also on streams that are
// gone: a PE that leaves must not free memory that its kernels still use.
#pragma once

#include <chrono>
#include <cstddef>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

void work_is_queued(int pe);
void work_has_ended(int pe);

// The pieces of work that PE `pe` has queued and that have not ended.
std::size_t unfinished_work_of(int pe);

// Waits until all that threads of PE `pe` have queued has ended; false if `deadline` came before.
CHIME_SIMT_EXPORT bool wait_for_work_of(int pe, std::chrono::steady_clock::time_point deadline);

}  // namespace chime::simt
