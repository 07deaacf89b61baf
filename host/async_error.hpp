// Errors that nobody was called for: a kernel's failed wait, a bad argument in a kernel, an aborted
// job. They are found in the PE's control page, put into words, and thrown by the next host call.
//
// Host calls that run device templates (ops.cpp) find their own failures the same way.
#pragma once

#include <optional>

#include "host/error.hpp"
#include "host/runtime.hpp"

namespace chime::host {

// The first error of this PE that is recorded and not yet thrown, else the job's abort, else the
// last one that was thrown. Takes nothing away. As whatever tells a failure, it first ends the
// queue pairs that were given up: nothing of theirs arrives after it.
std::optional<AsyncError> find_async_error(const Runtime& runtime);

// What this PE's kernel or host has recorded and no call has thrown. One that is being recorded is
// waited for, up to a tenth of a second. Takes nothing away and ends nothing.
std::optional<AsyncError> find_recorded_error(const Runtime& runtime);

// Throws the recorded failure of a kernel or a host operation, once: a later one can then be
// recorded. Costs one load when there is none. `called`: the host operation that throws it under
// its name; a failure of its own does not repeat that.
void throw_recorded_error(Runtime& runtime, Operation called = Operation::kNone);

// Whether `error` is the job's abort and this PE has printed why. From now on it has.
bool is_announced(Runtime& runtime, const Error& error);

// throw_recorded_error, and every time the job's abort.
void throw_async_error(Runtime& runtime);

}  // namespace chime::host
