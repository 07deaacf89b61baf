// Firmware commands that DevX programs send as PRM mailboxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softnic/attach/nic.hpp"

namespace softnic {

// Which DevX method of the kernel lets a command pass.
enum class CommandClass : std::uint8_t { kGeneral, kCreate, kModify, kQuery, kUnknown };
CommandClass class_of(std::uint32_t opcode);

enum class Created : std::uint8_t { kNothing, kCq, kQp, kSrq, kRegion };

struct CommandResult {
  std::vector<std::byte> out;  // status byte first; 0 = done
  Created created = Created::kNothing;
  std::uint32_t number = 0;  // of the created object
  // Hardware has it and the softnic has not: the kernel's EOPNOTSUPP, which programs take for an
  // absence; by the firmware's status, a bad parameter, they could not tell it from their own
  // error.
  bool not_emulated = false;
  bool failed() const { return out[0] != std::byte{0}; }
};

// Executes one command. `in`: at least command::kInBytes. `out_bytes`: how long the program's
// output buffer is. The device's lock must be held.
CommandResult execute(Nic& nic, std::span<const std::byte> in, std::size_t out_bytes);

}  // namespace softnic
