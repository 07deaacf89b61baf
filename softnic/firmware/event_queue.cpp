#include "event_queue.hpp"

#include "bytes.hpp"

namespace softnic {
namespace {

// The bytes of an entry: the type, then 28 bytes of data, which in most cases end with the object's
// number.
constexpr std::size_t kType = 1, kCqOfError = 32, kQueueType = 52, kNumber = 56;
constexpr std::byte kReceiveQueue{1};

}  // namespace

bool is_event_of_object(EventType type) {
  switch (type) {
    case EventType::kCompletion:
    case EventType::kPathMigrated:
    case EventType::kConnectionEstablished:
    case EventType::kSendQueueDrained:
    case EventType::kCqError:
    case EventType::kQpFatal:
    case EventType::kPathMigrationFailed:
    case EventType::kQpRequestError:
    case EventType::kQpAccessError:
    case EventType::kSrqFatal:
    case EventType::kQpLastWqeReached:
    case EventType::kSrqLimitReached:
    case EventType::kXrqError:
    case EventType::kDctDrained:
    case EventType::kDctKeyViolation:
      return true;
    default:
      return false;
  }
}

bool is_event_of_device(EventType type) { return type == EventType::kPortChange; }

EventEntry event_entry(EventType type, std::uint32_t number) {
  EventEntry entry{};
  entry[kType] = static_cast<std::byte>(type);
  if (type == EventType::kSrqLimitReached) entry[kQueueType] = kReceiveQueue;
  store_be32(entry.data() + (type == EventType::kCqError ? kCqOfError : kNumber), number);
  return entry;
}

}  // namespace softnic
