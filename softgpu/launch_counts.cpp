#include "softgpu/launch_counts.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "chime/device/simt/memory/memory_kind.hpp"

namespace softgpu {

namespace {

constexpr std::array<const char*, kColumns> kColumnNames = {"executed", "off",   "const",  "param",
                                                            "passed",   "local", "shared", "device",
                                                            "host",     "bar",   "other"};

std::atomic<MemoryTeller> memory_teller{nullptr};

Column as_marked(std::uint64_t address) {
  using chime::simt::MemoryKind;
  switch (chime::simt::kind_of_memory(reinterpret_cast<const void*>(address))) {
    case MemoryKind::kDevice:
      return Column::kDevice;
    case MemoryKind::kHost:
      return Column::kHost;
    case MemoryKind::kBar:
      return Column::kBar;
    default:
      return Column::kOther;
  }
}

}  // namespace

void set_memory_teller(MemoryTeller teller) { memory_teller = teller; }

Column memory_at(std::uint64_t address) {
  const MemoryTeller teller = memory_teller;
  const Column known = teller ? teller(address) : Column::kOther;
  return known == Column::kOther ? as_marked(address) : known;
}

std::uint64_t LaunchCounts::of(const std::string& form, Column column) const {
  const auto& forms = kernel_.forms();
  const auto found = std::find(forms.begin(), forms.end(), form);
  if (found == forms.end()) return 0;
  const auto row = static_cast<std::size_t>(found - forms.begin());
  return numbers_[row * kColumns + static_cast<std::size_t>(column)];
}

std::uint64_t LaunchCounts::instructions() const {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < numbers_.size(); row += kColumns)
    sum += numbers_[row + static_cast<std::size_t>(Column::kExecuted)] +
           numbers_[row + static_cast<std::size_t>(Column::kOff)];
  return sum;
}

std::string LaunchCounts::forms_as_json() const {
  std::string text;
  for (std::size_t row = 0; row < kernel_.forms().size(); ++row) {
    std::string columns;
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::uint64_t number = numbers_[row * kColumns + column];
      if (number == 0) continue;
      columns += std::string(columns.empty() ? "" : ", ") + '"' + kColumnNames[column] +
                 "\": " + std::to_string(number);
    }
    if (columns.empty()) continue;
    text += std::string(text.empty() ? "" : ", ") + '"' + kernel_.forms()[row] + "\": {" + columns +
            '}';
  }
  return '{' + text + '}';
}

}  // namespace softgpu
