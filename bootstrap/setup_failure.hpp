// What a PE publishes when its set-up has failed: those that wait for it report the same.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chime/error.h"
#include "net/mesh/fields.hpp"

namespace chime::bootstrap {

// With a code, in a sentence that names the PE.
struct SetupFailure {
  chimex_status code;
  std::string why;
};

inline constexpr std::string_view kSetupFailureKey = "chime.failure";

inline net::Bytes written(const SetupFailure& failure) {
  return net::Writer().put<std::int32_t>(failure.code).text(failure.why).take();
}

// None: another version of Chime wrote it.
inline std::optional<SetupFailure> read_setup_failure(std::span<const std::byte> value) try {
  net::Reader fields(value);
  const auto code = static_cast<chimex_status>(fields.get<std::int32_t>());
  return SetupFailure{code, fields.text()};
} catch (const net::Error&) {
  return std::nullopt;
}

}  // namespace chime::bootstrap
