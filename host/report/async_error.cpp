#include "host/report/async_error.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "host/errors/abort.hpp"
#include "host/errors/wait.hpp"
#include "host/pe/end.hpp"
#include "host/report/error_words.hpp"

namespace chime::host {
namespace {

constexpr std::uint32_t kClear = 0;
constexpr std::uint32_t kPublished = 2;

// For a thread that is writing the record, on a busy machine.
constexpr std::chrono::milliseconds kRecordTime{100};

// Whoever reads the PE's record holds runtime.one_reader: the first that throws it clears it.
std::uint32_t state_of(const abi::ErrorRecord& record) {
  // Pairs with the release in device/fail.cuh: the record's other fields are whole.
  return std::atomic_ref(const_cast<std::uint32_t&>(record.claimed))
      .load(std::memory_order_acquire);
}

// Comes after the look at the error: whichever thread recorded it, the faults of its queues are
// published then (device/channel/error.cuh).
void end_what_was_given_up(const Runtime& runtime, AsyncError& error) {
  for (const auto& transport : runtime.device->transports)
    if (const std::string why = transport->end_given_up(); !why.empty())
      error.message += "; what was given up may still arrive: " + why;
}

std::optional<AsyncError> first_error(const Runtime& runtime) {
  const std::lock_guard lock(runtime.one_reader);
  const ControlBlock& control = runtime.device->control();
  if (state_of(control.error) == kPublished) return describe(runtime, control.error);
  if (auto cause = abort_cause(control.abort))
    return AsyncError{cause->status, cause->pe, cause->why};
  return runtime.device->last_thrown;
}

// A lost peer concerns the whole PE, whichever thread met it; a wrong argument concerns its caller.
void keep_as_last(const Runtime& runtime, const AsyncError& error) {
  const std::lock_guard lock(runtime.one_reader);
  runtime.device->last_thrown = error;
}

// Empty if another thread was faster.
std::optional<AsyncError> take_recorded(Runtime& runtime, bool& was_said) {
  abi::ErrorRecord& record = runtime.device->control().error;
  const std::lock_guard lock(runtime.one_reader);
  if (state_of(record) != kPublished) return std::nullopt;
  AsyncError error = describe(runtime, record);
  runtime.device->last_thrown = error;
  was_said = std::exchange(runtime.device->recorded_is_said, false);
  // Frees the record for the next failure: pairs with the acquire of the compare-and-swap in
  // device/fail.cuh.
  std::atomic_ref(record.claimed).store(kClear, std::memory_order_release);
  return error;
}

}  // namespace

std::optional<AsyncError> find_async_error(const PeSlot& slot) {
  if (!built_device(slot)) return std::nullopt;
  end_job_if_a_kernel_asks(*slot.runtime);
  std::optional<AsyncError> found = first_error(*slot.runtime);
  if (found) end_what_was_given_up(*slot.runtime, *found);
  return found;
}

std::optional<AsyncError> find_recorded_error(const Runtime& runtime) {
  const abi::ErrorRecord& record = runtime.device->control().error;
  const auto is_half_written = [&] {
    const std::uint32_t state = state_of(record);
    return state != kClear && state != kPublished;
  };
  Backoff backoff;
  const auto end = std::chrono::steady_clock::now() + kRecordTime;
  while (is_half_written() && std::chrono::steady_clock::now() < end) backoff.pause();
  const std::lock_guard lock(runtime.one_reader);
  if (state_of(record) != kPublished) return std::nullopt;
  return describe(runtime, record);
}

bool take_saying(const Runtime& runtime, const AsyncError& error) {
  const abi::ErrorRecord& record = runtime.device->control().error;
  const std::lock_guard lock(runtime.one_reader);
  if (state_of(record) != kPublished || describe(runtime, record).message != error.message)
    return false;
  return runtime.device->recorded_is_said = true;
}

void give_back_saying(const Runtime& runtime) {
  const std::lock_guard lock(runtime.one_reader);
  runtime.device->recorded_is_said = false;
}

void throw_recorded_error(Runtime& runtime) {
  if (state_of(runtime.device->control().error) != kPublished) return;
  end_job_if_a_kernel_asks(runtime);
  bool was_said = false;
  if (std::optional<AsyncError> error = take_recorded(runtime, was_said)) {
    const std::size_t said = error->message.size();
    end_what_was_given_up(runtime, *error);
    const Error thrown("", error->status, error->message);
    throw was_said && said == error->message.size() ? thrown.announced() : thrown;
  }
}

void throw_own_error(const Runtime& runtime, abi::ErrorRecord& failure, Operation called) {
  const abi::ErrorRecord record = failure;
  failure.claimed = kClear;
  AsyncError error = describe(runtime, record);
  if (error.status != CHIMEX_ERR_INVALID) keep_as_last(runtime, error);
  if (static_cast<Operation>(record.operation) == called && record.in_kernel == 0)
    error.message = sentence(runtime, record);
  end_what_was_given_up(runtime, error);
  throw Error("", error.status, error.message);
}

void throw_no_path(const Runtime& runtime, int pe) {
  const PeerTable& peers = runtime.device->peers;
  const AsyncError error{peers.is_dead(pe) ? CHIMEX_ERR_PEER_DEAD : CHIMEX_ERR_UNREACHABLE, pe,
                         peers.why_not(pe)};
  keep_as_last(runtime, error);
  throw Error("", error.status, error.message);
}

std::optional<int> blamed_for_abort(const PeSlot& slot, const Error& error) {
  const DeviceStage* const device = built_device(slot);
  const auto cause = device ? abort_cause(device->control().abort) : std::nullopt;
  if (!cause) return std::nullopt;
  const bool is_ended_here = cause->status == CHIMEX_ERR_ABORTED && cause->pe == slot.pe;
  return is_ended_here || error.origin() == kJobOrigin ? std::optional(cause->pe) : std::nullopt;
}

void throw_async_error(Runtime& runtime) {
  throw_recorded_error(runtime);
  auto cause = abort_cause(runtime.device->control().abort);
  if (!cause) return;
  AsyncError error{cause->status, cause->pe, cause->why};
  end_what_was_given_up(runtime, error);
  throw Error(kJobOrigin, error.status, error.message);
}

}  // namespace chime::host
