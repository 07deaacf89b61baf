#include "comparison.hpp"

#include <algorithm>
#include <cstdio>

namespace chime::tests {
namespace {

constexpr std::size_t kSegment = 16, kControlFlags = 11;
constexpr unsigned kCeBits = 0x0c, kOnError = 0x00, kOnFirstError = 0x04;
constexpr unsigned kNop = 0x00, kDump = 0x23, kInline = 0x80;

struct Field {
  Allow allow;
  std::size_t begin, end;
};

bool has_remote(const Bytes& wqe) { return wqe[3] != kNop && wqe[3] != kDump; }

// Where in a request lies what may be allowed to differ.
std::vector<Field> fields_of(const Bytes& wqe) {
  std::vector<Field> fields{{Allow::kIndex, 1, 3}, {Allow::kQpn, 4, 7}};
  if (has_remote(wqe) && wqe.size() >= 2 * kSegment) {
    fields.push_back({Allow::kAddress, 16, 24});
    fields.push_back({Allow::kKey, 24, 28});
  }
  const std::size_t data = wqe.size() - kSegment;
  if (wqe.size() > kSegment && (wqe[data] & kInline) == 0) {
    fields.push_back({Allow::kKey, data + 4, data + 8});
    fields.push_back({Allow::kAddress, data + 8, data + 16});
  }
  return fields;
}

const char* name_of(Allow allow) {
  return std::ranges::find(kAllowances, allow, &Allowance::allow)->name;
}

bool is_ce_alone(const Bytes& reference, const Bytes& ours) {
  const unsigned theirs = reference[kControlFlags], mine = ours[kControlFlags];
  return (theirs & ~kCeBits) == (mine & ~kCeBits) && (theirs & kCeBits) == kOnError &&
         (mine & kCeBits) == kOnFirstError;
}

std::string words_of(const Bytes& wqe, std::size_t segment) {
  std::string text;
  char two[4];
  for (std::size_t i = 0; i < kSegment && segment * kSegment + i < wqe.size(); ++i) {
    std::snprintf(two, sizeof two, "%02x", wqe[segment * kSegment + i]);
    text += i % 4 == 0 && i != 0 ? std::string(" ") + two : two;
  }
  return text;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const char* segment_name(const Bytes& wqe, std::size_t segment) {
  if (segment == 0) return "control";
  if (segment == 1 && has_remote(wqe)) return "remote";
  const bool is_atomic = (wqe[3] & 0x10) != 0 && wqe[3] != 0x10;
  return is_atomic && (segment + 1) * kSegment < wqe.size() ? "atomic" : "data";
}

}  // namespace

Differences compare(const Bytes& reference, const Bytes& ours, const std::set<Allow>& allowed) {
  Differences found;
  if (reference.size() != ours.size() || reference.size() < kSegment) {
    found.wrong.push_back(std::min(reference.size(), ours.size()));
    return found;
  }
  const std::vector<Field> fields = fields_of(reference);
  for (std::size_t at = 0; at < ours.size(); ++at) {
    if (reference[at] == ours[at]) continue;
    const auto field = std::ranges::find_if(fields, [&](const Field& f) {
      return allowed.contains(f.allow) && at >= f.begin && at < f.end;
    });
    if (field != fields.end()) {
      found.allowed.insert(name_of(field->allow));
    } else if (at == kControlFlags && allowed.contains(Allow::kCe) &&
               is_ce_alone(reference, ours)) {
      found.allowed.insert(name_of(Allow::kCe));
    } else {
      found.wrong.push_back(at);
    }
  }
  return found;
}

std::string side_by_side(const char* source, const Bytes& reference, const Bytes& ours,
                         const std::set<Allow>& allowed) {
  const Differences found = compare(reference, ours, allowed);
  std::string text;
  char line[256];
  for (std::size_t s = 0; s * kSegment < std::max(reference.size(), ours.size()); ++s) {
    const std::string theirs = words_of(reference, s), mine = words_of(ours, s);
    const char* const name = segment_name(ours, s);
    if (theirs == mine) {
      std::snprintf(line, sizeof line, "  %-8s %-8s %s\n", name, "both", mine.c_str());
      text += line;
      continue;
    }
    std::snprintf(line, sizeof line, "  %-8s %-8s %s\n  %-8s %-8s %s\n", name, source,
                  theirs.c_str(), "", "Chime", mine.c_str());
    text += line;
  }
  if (!found.allowed.empty()) text += "  allowed to differ: " + joined(found.allowed) + "\n";
  for (const std::size_t at : found.wrong) text += "  WRONG: byte " + std::to_string(at) + "\n";
  return text;
}

}  // namespace chime::tests
