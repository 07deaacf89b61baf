#include "host/transport/mlx5/view/faults.hpp"

#include <fmt/format.h>

#include <atomic>

#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "host/errors/error.hpp"
#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host::mlx5 {
namespace {

// Pairs with the release of the thread that published it: its other fields are whole.
bool is_published(const abi::ChannelFault& fault) {
  return std::atomic_ref(const_cast<std::uint32_t&>(fault.published))
             .load(std::memory_order_acquire) >= abi::kFaultWhole;
}

const char* context_words(std::uint32_t context) {
  return context == context_id(ContextOwner::kHost) ? "host operations" : "kernels";
}

const char* request_words(std::uint8_t opcode) {
  switch (static_cast<abi::WqeOpcode>(opcode)) {
    case abi::WqeOpcode::kWrite:
    case abi::WqeOpcode::kWriteImm:
      return "a write";
    case abi::WqeOpcode::kRead:
      return "a read";
    case abi::WqeOpcode::kCompareSwap:
    case abi::WqeOpcode::kFetchAdd:
    case abi::WqeOpcode::kMaskedCompareSwap:
    case abi::WqeOpcode::kMaskedFetchAdd:
      return "an atomic";
    case abi::WqeOpcode::kDump:
      return "the flush of a read";
    case abi::WqeOpcode::kNop:
      break;
  }
  return "a request";
}

const char* syndrome_words(std::uint8_t syndrome) {
  switch (static_cast<abi::CqeSyndrome>(syndrome)) {
    case abi::CqeSyndrome::kLocalLength:
      return "its length is wrong for the queue pair";
    case abi::CqeSyndrome::kLocalQueuePair:
      return "the NIC could not take the request";
    case abi::CqeSyndrome::kLocalProtection:
      return "the NIC may not use the memory here";
    case abi::CqeSyndrome::kFlushed:
      return "an earlier request failed";
    case abi::CqeSyndrome::kBadResponse:
      return "the peer's answer made no sense";
    case abi::CqeSyndrome::kLocalAccess:
      return "the NIC may not write to the memory here";
    case abi::CqeSyndrome::kRemoteInvalid:
      return "the peer's NIC could not take the request";
    case abi::CqeSyndrome::kRemoteAccess:
      return "the peer's NIC may not use that memory";
    case abi::CqeSyndrome::kRemoteOperation:
      return "the peer's NIC failed";
    case abi::CqeSyndrome::kTransportRetry:
      return "the peer's NIC does not answer";
    case abi::CqeSyndrome::kReceiverNotReady:
      return "the peer's NIC is not ready";
    case abi::CqeSyndrome::kRemoteAborted:
      return "the peer aborted it";
  }
  return "a reason that Chime does not know";
}

void end_given_up(const View& view, ContextOwner owner, Connections& nic) {
  const unsigned slots = slots_of(owner, nic.options());
  const std::span<const abi::ChannelFault> faults = view.faults_of(owner);
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (is_published(faults[i]) && abi::stop_of(faults[i].status) == abi::Stop::kGaveUp)
      nic.to_error(static_cast<unsigned>(i / slots),
                   first_slot_of(owner, nic.options()) + static_cast<unsigned>(i % slots));
}

}  // namespace

std::optional<abi::ChannelFault> find_fault(const View& view, int pe) {
  for (const ContextOwner owner : {ContextOwner::kKernels, ContextOwner::kHost})
    for (const abi::ChannelFault& fault : view.faults_of(owner, pe))
      if (is_published(fault)) return fault;
  return std::nullopt;
}

std::string describe(const abi::ChannelFault& fault) {
  if (abi::stop_of(fault.status) == abi::Stop::kGaveUp)
    return "a wait for the NIC was given up before";
  const std::string what =
      fmt::format("{} of {} bytes by queue pair {:#x} of {}", request_words(fault.opcode),
                  fault.bytes, fault.number, context_words(fault.context));
  const double seconds = static_cast<double>(fault.time_ns) * 1e-9;
  if (fault.first_lost)
    return fmt::format("{} was flushed at {:.3f} s; which request failed first, and why, is lost",
                       what, seconds);
  return fmt::format("{} failed at {:.3f} s: {} (syndrome {:#04x}, vendor error {:#04x})", what,
                     seconds, syndrome_words(fault.syndrome), fault.syndrome, fault.vendor_error);
}

std::string end_given_up_queues(const View& view, Connections& nic) {
  try {
    end_given_up(view, ContextOwner::kKernels, nic);
    end_given_up(view, ContextOwner::kHost, nic);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace chime::host::mlx5
