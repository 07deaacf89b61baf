// The variables of Options: names, bounds and defaults, in one table. The executor reads them. The
// host's list of variables (host/settings/env.cpp) takes its rows from here, so that chime_init
// finds a wrong value before the first launch does.
#pragma once

#include <cstdint>
#include <optional>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/options.hpp"

namespace chime::simt {

struct OptionNumber {
  const char* variable;
  std::uint64_t least, most, otherwise;
  void (*store)(Options& options, std::uint64_t value);
};

inline constexpr OptionNumber kSeed = {
    "CHIME_SIMT_SEED", 0, ~std::uint64_t{0}, 0,
    [](Options& options, std::uint64_t value) { options.seed = value; }};
inline constexpr OptionNumber kWeak = {
    "CHIME_SIMT_WEAK", 0, 1, 0,
    [](Options& options, std::uint64_t value) { options.weak = value != 0; }};
// Sanitizers use the fiber's stack for their reports.
inline constexpr OptionNumber kStackKb = {
    "CHIME_SIMT_STACK_KB", 16, 1 << 20, kAsan || kTsan ? 256 : 64,
    [](Options& options, std::uint64_t value) { options.stack_bytes = value * 1024; }};
// TSan can hold about 8000 fibers.
inline constexpr OptionNumber kResident = {"CHIME_SIMT_RESIDENT", 1, 4096, kTsan ? 16 : 256,
                                           [](Options& options, std::uint64_t value) {
                                             options.resident_blocks = static_cast<unsigned>(value);
                                           }};
inline constexpr const OptionNumber* kOptionNumbers[] = {&kSeed, &kWeak, &kStackKb, &kResident};

// The number in `text`, decimal or with 0x; nothing if it is not a number or out of bounds.
std::optional<std::uint64_t> parse(const OptionNumber& number, const char* text);

}  // namespace chime::simt
