// Events as the firmware writes them into its event queue. DevX programs subscribe to them and read
// them, unless they want no data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softnic {

// PRM, "Event types"; the kernel's enum mlx5_event.
enum class EventType : std::uint16_t {
  kCompletion = 0x00,
  kPathMigrated = 0x01,
  kConnectionEstablished = 0x02,
  kSendQueueDrained = 0x03,
  kCqError = 0x04,
  kQpFatal = 0x05,
  kPathMigrationFailed = 0x07,
  kPortChange = 0x09,
  kQpRequestError = 0x10,
  kQpAccessError = 0x11,
  kSrqFatal = 0x12,
  kQpLastWqeReached = 0x13,
  kSrqLimitReached = 0x14,
  kXrqError = 0x18,
  kDctDrained = 0x1c,
  kDctKeyViolation = 0x1d,
};

// The events that the kernel lets a program wait for on a device that does not list its events
// (event_cap): with an object, and without one.
bool is_event_of_object(EventType type);
bool is_event_of_device(EventType type);

// An entry of the event queue about the object with `number`.
using EventEntry = std::array<std::byte, 64>;
EventEntry event_entry(EventType type, std::uint32_t number);

}  // namespace softnic
