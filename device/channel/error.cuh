// The report of a channel's failure. The thread that finds it takes the channel out of use
// (stop.cuh). The first thread that then leaves the channel reports the cause; the others leave
// after it.
//
// Polls only stop the channel. The report is called by the outermost frame of an operation or wait,
// whose variables are no longer needed there. So it costs the successful case no registers.
#ifndef CHIME_DEVICE_CHANNEL_ERROR_CUH_
#define CHIME_DEVICE_CHANNEL_ERROR_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/words.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/wait.cuh"

namespace chime::channel {
namespace detail {

CHIME_DEVICE void write_fault(const Context& ctx, const Channel& channel, std::uint32_t status) {
  abi::ChannelFault& fault = *channel.fault;
  fault.status = status;
  fault.pe = channel.pe;
  fault.context = channel.context;
  fault.path = static_cast<std::uint32_t>(channel.head.path);
  fault.time_ns = exec::clock_ns();
  if (abi::stop_of(status) == abi::Stop::kError) describe_error(ctx, channel, fault);
  // Publishes the fields: pairs with the acquire of the host's reader.
  exec::st<Order::kRelease, Scope::kSystem>(&fault.published, abi::kFaultWhole);
  // Release: for waits, which read the fault (watch.cuh).
  exec::atomic_cas<Order::kRelease, Scope::kSystem>(&channel.watch->lost, std::uint64_t{0},
                                                    std::uint64_t{channel.index} + 1);
}

CHIME_DEVICE void record_error(abi::ErrorRecord* to, const Channel& channel) {
  const abi::ChannelFault& fault = *channel.fault;
  record_in(to, {.status = fault.error,
                 .operation = Operation::kNone,
                 .pe = fault.pe,
                 .address = reinterpret_cast<const void*>(fault.address),
                 .expected = fault.bytes});
}

CHIME_DEVICE void record_given_up(abi::ErrorRecord* to, const Channel& channel) {
  const abi::GivenUp& wait = channel.progress.wait;
  record_in(to, {.status = wait.status,
                 .operation = Operation::kNone,
                 .pe = wait.pe,
                 .fault = Fault::kWait,
                 .address = reinterpret_cast<const void*>(wait.address),
                 .expected = wait.expected,
                 .seen = wait.seen,
                 .waited_ns = wait.waited_ns});
}

// Waits for the thread that reports why the channel was stopped. What this thread records
// afterwards is ordered after that report, so the host that reads it finds the channel among those
// that failed (host/transport/mlx5/view/faults.cpp).
CHIME_DEVICE void await_report(const Context& ctx, const Channel& channel) {
  const std::uint32_t* const published = &channel.fault->published;
  const Wait wait = {.operation = Operation::kNone,
                     .address = published,
                     .expected = abi::kFaultReported,
                     .pe = channel.pe,
                     .timeout_ns = ctx.pe.wait_timeout_ns};
  // Acquire: pairs with the last store of tell().
  spin_until(ctx, wait, [&] {
    return exec::ld<Order::kAcquire, Scope::kSystem>(published) == abi::kFaultReported;
  });
}

// The PE that the report concerns; -1 if there is no report.
CHIME_DEVICE int first_lost(const Channel& channel) {
  const abi::ChannelFault& fault = *channel.fault;
  const auto published = exec::ld<Order::kAcquire, Scope::kSystem>(&fault.published);
  return published == abi::kFaultReported ? fault.pe : -1;
}

}  // namespace detail

// REQUIRES: has_failed(channel). Reports the cause, unless another thread does: writes the fault,
// records it, then marks it as reported. On return the report is complete, whichever thread made
// it. A channel that the host closed has no fault. `to`: the caller's record if its operation or
// wait fails by this, else that of the whole PE.
CHIME_DEVICE_OUT_OF_LINE void tell(const Context& ctx, Channel& channel, abi::ErrorRecord* to) {
  // Acquire: pairs with publish_stop.
  const bool is_in_use = (load<Order::kAcquire>(channel.progress.done) & abi::kStopped) ==
                         0;  // other peers still use it
  const std::uint32_t status =
      is_in_use ? abi::status_word(abi::Stop::kError)
                : exec::ld<Order::kRelaxed, Scope::kSystem>(&channel.progress.status);
  const abi::Stop why = abi::stop_of(status);
  if (why != abi::Stop::kError && why != abi::Stop::kGaveUp) return;
  std::uint32_t* const published = &channel.fault->published;
  if (exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(published, 0u, abi::kFaultClaimed) != 0) {
    return detail::await_report(ctx, channel);
  }
  detail::write_fault(ctx, channel, status);
  if (why == abi::Stop::kError) {
    detail::record_error(to, channel);
  } else {
    detail::record_given_up(to, channel);
  }
  exec::st<Order::kRelease, Scope::kSystem>(published, abi::kFaultReported);
}

// Reports an operation on `pe` that failed: its channel is out of use or has lost that peer, or it
// got no staging slot, which is already recorded. If the cause has been reported and the record is
// free again, this operation is the next failure. -1: an operation on all peers that the channel
// leads to.
CHIME_DEVICE_OUT_OF_LINE void tell_of_operation(const Context& ctx, Channel& channel, int pe) {
  if (has_failed(channel)) tell(ctx, channel, ctx.pe.error);
  record(ctx, {.status = CHIMEX_ERR_NETWORK,
               .operation = Operation::kNone,
               .pe = pe >= 0 ? pe : detail::first_lost(channel),
               .address = nullptr});
}

// The same; then leaves as CHIME_ON_ERROR says.
CHIME_DEVICE_OUT_OF_LINE void leave_operation(const Context& ctx, Channel& channel, int pe) {
  tell_of_operation(ctx, channel, pe);
  leave(ctx);
}
CHIME_DEVICE_OUT_OF_LINE void leave_channel(const Context& ctx, Channel& channel) {
  tell_of_operation(ctx, channel, channel.pe);
  leave(ctx);
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_ERROR_CUH_
