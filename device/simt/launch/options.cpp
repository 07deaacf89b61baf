#include "chime/device/simt/launch/options.hpp"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/option_numbers.hpp"
#include "chime/device/simt/threads/grid.hpp"

namespace chime::simt {

namespace {

Options from_environment() {
  Options options;
  for (const OptionNumber* row : kOptionNumbers) {
    const OptionNumber& number = *row;
    const char* text = std::getenv(number.variable);
    const auto value = text ? parse(number, text) : std::optional(number.otherwise);
    if (!value) {
      fatal("%s='%s': want a number from %llu to %llu", number.variable, text,
            static_cast<unsigned long long>(number.least),
            static_cast<unsigned long long>(number.most));
    }
    number.store(options, *value);
  }
  return options;
}

struct Current {
  std::mutex mutex;
  Options options = from_environment();
  std::uint64_t launches = 0;
};

Current& current_options() { return immortal<Current>(); }

}  // namespace

std::optional<std::uint64_t> parse(const OptionNumber& number, const char* text) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  const bool is_number = std::isdigit(static_cast<unsigned char>(*text)) && !*end && !errno;
  if (!is_number || value < number.least || value > number.most) return std::nullopt;
  return value;
}

Options options() {
  const TsanIgnores ignores;
  const std::lock_guard lock(current_options().mutex);
  return current_options().options;
}

void set_options(const Options& options) {
  const std::lock_guard lock(current_options().mutex);
  Current& current = current_options();
  current.options = options;
  if (!options.stack_bytes) kStackKb.store(current.options, kStackKb.otherwise);
  if (!options.resident_blocks) kResident.store(current.options, kResident.otherwise);
  current.launches = 0;
}

std::uint64_t next_launch_serial() {
  const std::lock_guard lock(current_options().mutex);
  return current_options().launches++;
}

}  // namespace chime::simt
