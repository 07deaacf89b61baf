// Errors that nobody was called for: a kernel's failed wait, a bad argument in a kernel, what a
// wait found of somebody's requests, an aborted job. They are found in the PE's control page, put
// into words, and thrown by the next host call, of whichever thread.
//
// A host operation's own failure is in its thread's record (calling_thread.hpp), and thrown by it.
#pragma once

#include <optional>

#include "host/errors/error.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// What takes a Runtime REQUIRES its device stage, which nothing of all this happens without.

// The first error of this PE that is recorded and not yet thrown, else the job's abort, else the
// last one that was thrown. Takes nothing away. As whatever tells a failure, it first ends the
// queue pairs that were given up: nothing of theirs arrives after it.
std::optional<AsyncError> find_async_error(const PeSlot& slot);

// What has been recorded for this PE and no call has thrown. One that is being recorded is
// waited for, up to a tenth of a second. Takes nothing away and ends nothing.
std::optional<AsyncError> find_recorded_error(const Runtime& runtime);

// What is recorded is said by the caller: who throws it later does not say it again. False: a call
// has thrown it meanwhile.
bool take_saying(const Runtime& runtime, const AsyncError& error);

// The caller could not say what it took: who throws it says it.
void give_back_saying(const Runtime& runtime);

// Throws what has been recorded for this PE, once, whichever threads call: a later failure can then
// be recorded. Costs one load when there is none.
void throw_recorded_error(Runtime& runtime);

// REQUIRES: `failure` is published, and nobody else's while this thread is here. Clears it and
// throws it. `called`: the host operation that throws it under its name; the words do not repeat
// that.
[[noreturn]] void throw_own_error(const Runtime& runtime, abi::ErrorRecord& failure,
                                  Operation called = Operation::kNone);

// REQUIRES: no way leads to `pe`. Throws why.
[[noreturn]] void throw_no_way(const Runtime& runtime, int pe);

// The PE to blame (-1: none) if `error` is the job's abort, which is reported once
// (reported_once.hpp), or comes of this PE's own end of the job.
std::optional<int> blamed_for_abort(const PeSlot& slot, const Error& error);

// throw_recorded_error, and every time the job's abort.
void throw_async_error(Runtime& runtime);

}  // namespace chime::host
