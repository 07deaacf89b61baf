#include "print.hpp"

#include <iomanip>

#include "decode.hpp"

namespace {

// Zeros and nothings that say nothing.
bool is_worth_a_word(const Field& field) {
  if (field.group == Group::kTime) return false;
  if (field.name == "fence") return field.value != "none";
  if (field.name == "error") return field.value != "0";
  return true;
}

}  // namespace

void print_trace(const std::vector<Record>& records, std::ostream& out) {
  const std::uint64_t start = records.empty() ? 0 : records.front().ns();
  for (const Record& record : records) {
    out << std::setw(14) << std::fixed << std::setprecision(3)
        << static_cast<double>(record.ns() - start) / 1000.0 << " us  " << record.pid() << "  "
        << std::left << std::setw(11) << name_of(record.event()) << std::right;
    for (const Field& field : decode(record)) {
      if (!is_worth_a_word(field)) continue;
      const bool names_the_line = field.name == "name" || field.name == "kind" ||
                                  (field.name == "opcode" && record.event() == Event::kWqe);
      out << ' ' << (names_the_line ? field.value : field.name + '=' + field.value);
    }
    out << '\n';
  }
}
