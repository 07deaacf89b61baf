// The abort word of a PE. The first thread or PE to know that the job cannot go on raises it, once;
// every wait sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chime/abi/context.h"
#include "chime/error.h"

namespace chime::host {

// Origin of the Errors that an aborted job throws from its calls.
inline constexpr char kJobOrigin[] = "job";

struct AbortCause {
  chimex_status status = CHIMEX_ERR_ABORTED;
  int pe = -1;  // the PE to blame
  Path path = Path::kNone;
  std::string why;
  int exit_code = 1;  // of the processes that end because of it
};

// True if this call raised the word; false if it was raised before (the first cause stays). Waits
// up to two seconds for a caller that has begun and not ended; after that its process is taken for
// dead.
bool raise_abort(abi::AbortWord& word, const AbortCause& cause);

// Tells kernels and waits of this PE that `pe` is dead, by its bit (abi::Pe::dead).
void mark_dead(std::span<std::uint64_t> dead, int pe);

// The same for waits that need all PEs, where survivors go on. The first one counts. It has its
// bit.
void tell_of_death(abi::AbortWord& word, int pe);

// The PE that was reported dead first; -1: none.
int first_dead(const abi::AbortWord& word);

// The status with which a kernel of this PE ends the job, if one does.
std::optional<int> asked_exit(const abi::AbortWord& word);

// The published cause, if the word is raised.
std::optional<AbortCause> abort_cause(const abi::AbortWord& word);

}  // namespace chime::host
