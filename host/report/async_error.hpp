// Errors that no caller waits for: a kernel's failed wait, a bad argument in a kernel, a failed
// request that another thread's wait has found, an aborted job. They are found in the PE's control
// page, put into words, and thrown by the next host call of any thread.
//
// A host operation's own failure is in its thread's record (host/report/calling_thread.hpp), and
// the operation throws it.
#pragma once

#include <optional>

#include "host/errors/error.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// Functions that take a Runtime REQUIRE its device stage: without it none of these errors occurs.

// The first error of this PE that is recorded and not yet thrown, else the job's abort, else the
// last one that was thrown. Takes nothing away. As whatever tells a failure, it first ends the
// queue pairs that were given up: nothing of theirs arrives after it.
std::optional<AsyncError> find_async_error(const PeSlot& slot);

// The error that has been recorded for this PE and no call has thrown. One that is being recorded
// is waited for, up to a tenth of a second. Takes nothing away and ends nothing.
std::optional<AsyncError> find_recorded_error(const Runtime& runtime);

// The caller prints the recorded error: the call that throws it later does not print it again.
// False: a call has thrown it meanwhile.
bool take_saying(const Runtime& runtime, const AsyncError& error);

// The caller could not print the error that it took: the call that throws it prints it.
void give_back_saying(const Runtime& runtime);

// Throws what has been recorded for this PE, once, whichever threads call: a later failure can then
// be recorded. Costs one load when there is none.
void throw_recorded_error(Runtime& runtime);

// REQUIRES: `failure` is published, and nobody else's while this thread is here. Clears it and
// throws it. `called`: the host operation that throws it under its name; the words do not repeat
// that.
[[noreturn]] void throw_own_error(const Runtime& runtime, abi::ErrorRecord& failure,
                                  Operation called = Operation::kNone);

// REQUIRES: no path leads to `pe`. Throws why.
[[noreturn]] void throw_no_path(const Runtime& runtime, int pe);

// The PE to blame (-1: none) if `error` is the job's abort, which is reported once
// (host/errors/reported_once.hpp), or comes of this PE's own end of the job.
std::optional<int> blamed_for_abort(const PeSlot& slot, const Error& error);

// throw_recorded_error, and every time the job's abort.
void throw_async_error(Runtime& runtime);

}  // namespace chime::host
