#include "host/trace/merge/groups.hpp"

#include <iterator>

#include "chime/abi/operation.h"

namespace chime::trace {
namespace {

Group group_of_work(Operation operation) {
  switch (operation) {
    case Operation::kPut:
    case Operation::kPutNbi:
    case Operation::kP:
    case Operation::kIput:
      return Group::kPut;
    case Operation::kGet:
    case Operation::kGetNbi:
    case Operation::kG:
    case Operation::kIget:
      return Group::kGet;
    case Operation::kPutSignal:
    case Operation::kPutSignalNbi:
    case Operation::kSignalOp:
      return Group::kSignal;
    case Operation::kSignalWaitUntil:
    case Operation::kSignalWaitUntilTimeout:
    case Operation::kWaitUntil:
    case Operation::kWaitUntilTimeout:
    case Operation::kWaitUntilAll:
    case Operation::kWaitUntilAny:
    case Operation::kWaitUntilSome:
    case Operation::kWaitUntilAllVector:
    case Operation::kWaitUntilAnyVector:
    case Operation::kWaitUntilSomeVector:
      return Group::kWait;
    case Operation::kFence:
    case Operation::kQuiet:
      return Group::kOrder;
    default:
      break;
  }
  const bool is_atomic =
      operation >= Operation::kAtomicFetch && operation <= Operation::kAtomicCompareSwap;
  return is_atomic ? Group::kAtomic : Group::kCollective;
}

Update update_by_signal(const Event& event) { return event.how == 0 ? Update::kSet : Update::kAdd; }

}  // namespace

Group group_of(const Event& event) {
  switch (event.kind) {
    case EventKind::kCall:
      return Group::kCall;
    case EventKind::kKernel:
      return Group::kKernel;
    case EventKind::kNicRequest:
      return Group::kNic;
    case EventKind::kProxyRequest:
      return Group::kProxy;
    default:
      return is_wait_in_meeting(event) ? Group::kWait
                                       : group_of_work(static_cast<Operation>(event.operation));
  }
}

const char* category_of(Group group) {
  constexpr const char* kNames[] = {"call", "kernel", "collective", "wait", "signal", "put",
                                    "get",  "atomic", "order",      "nic",  "proxy"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Group::kCount));
  return kNames[static_cast<int>(group)];
}

const char* track_of(Group group) {
  constexpr const char* kNames[] = {"host calls", "kernels", "collectives",
                                    "waits",      "signals", "puts",
                                    "gets",       "atomics", "fence, quiet"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Group::kNic));
  return has_track(group) ? kNames[static_cast<int>(group)] : "";
}

bool has_track(Group group) { return group < Group::kNic; }

std::string prefix_of(Group group) {
  if (group == Group::kNic) return "NIC ";
  return group == Group::kProxy ? "proxy " : "";
}

const char* operation_name(std::uint16_t operation) {
  switch (static_cast<Operation>(operation)) {
#define CHIME_OPERATION(ENUMERATOR, NAME) \
  case Operation::ENUMERATOR:             \
    return NAME;
    CHIME_FOR_OPERATIONS(CHIME_OPERATION)
#undef CHIME_OPERATION
    default:
      return "?";
  }
}

bool is_wait_in_meeting(const Event& event) {
  return event.kind == EventKind::kWork && event.pe >= 0 &&
         group_of_work(static_cast<Operation>(event.operation)) == Group::kCollective;
}

bool is_wait_for_some(const Event& event) {
  const auto operation = static_cast<Operation>(event.operation);
  return event.kind == EventKind::kWork && operation >= Operation::kWaitUntilAll &&
         operation <= Operation::kWaitUntilSomeVector;
}

Update update_of(const Event& event) {
  if (event.kind != EventKind::kWork || event.address == kNotInHeap) return Update::kNone;
  switch (static_cast<Operation>(event.operation)) {
    case Operation::kPutSignal:
    case Operation::kPutSignalNbi:
    case Operation::kSignalOp:
      return update_by_signal(event);
    case Operation::kP:
      return event.bytes <= 8 ? Update::kSet : Update::kNone;
    case Operation::kAtomicSet:
    case Operation::kAtomicSwap:
      return Update::kSet;
    case Operation::kAtomicAdd:
    case Operation::kAtomicInc:
    case Operation::kAtomicFetchAdd:
    case Operation::kAtomicFetchInc:
      return Update::kAdd;
    case Operation::kAtomicAnd:
    case Operation::kAtomicOr:
    case Operation::kAtomicXor:
    case Operation::kAtomicFetchAnd:
    case Operation::kAtomicFetchOr:
    case Operation::kAtomicFetchXor:
    case Operation::kAtomicCompareSwap:
      return Update::kOther;
    default:
      return Update::kNone;
  }
}

}  // namespace chime::trace
