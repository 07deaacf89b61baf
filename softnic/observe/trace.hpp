// A record of what the softnic saw and did: one JSON object a line, to the file that SOFTNIC_TRACE
// names. softnic-trace prints, compares and converts it. Called under the device's lock.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "softnic/firmware/objects.hpp"

namespace softnic::trace {

bool is_on();

// The next record opens the file again, with this process's id for "%p" in its name. For a child of
// fork().
void reopen();

// A store of `value` to a send doorbell of `page`.
void doorbell(std::uint32_t page, std::uint64_t value);
void wqe(const QueuePair& qp, const Request& request, std::span<const std::byte> bytes);
// A receive WQE that a message took; `list` is its scatter list.
void receive_wqe(const QueuePair& qp, std::uint32_t counter, std::span<const std::byte> list);
void cqe(std::uint32_t cqn, const Completion& completion, std::span<const std::byte> bytes);

// A firmware command: its input mailbox and the status that it came back with.
void command(std::uint32_t opcode, std::span<const std::byte> in, std::uint32_t status);
// A message to the kernel; `kind` is ioctl or write.
void message(const char* kind, std::string_view name, std::uint32_t number, int error);

}  // namespace softnic::trace
