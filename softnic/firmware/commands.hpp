// Firmware commands that DevX programs send as PRM mailboxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softnic/attach/nic.hpp"

namespace softnic {

// The DevX method of the kernel that accepts a command.
enum class CommandClass : std::uint8_t { kGeneral, kCreate, kModify, kQuery, kUnknown };
CommandClass class_of(std::uint32_t opcode);

enum class Created : std::uint8_t { kNothing, kCq, kQp, kSrq, kRegion };

struct CommandResult {
  std::vector<std::byte> out;  // status byte first; 0 = done
  Created created = Created::kNothing;
  std::uint32_t number = 0;  // of the created object
  // Hardware has it and the softnic does not. The kernel's answer is EOPNOTSUPP, which programs
  // treat as an absent feature; they could not distinguish the firmware's status, a bad parameter,
  // from an error of their own.
  bool not_emulated = false;
  bool failed() const { return out[0] != std::byte{0}; }
};

// Executes one command. `in`: at least command::kInBytes. `out_bytes`: the size of the program's
// output buffer. The device's lock must be held.
CommandResult execute(Nic& nic, std::span<const std::byte> in, std::size_t out_bytes);

}  // namespace softnic
