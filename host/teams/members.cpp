#include "host/teams/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace chime::host {
namespace {

std::optional<Triplet> triplet_of(const std::vector<int>& pes) {
  const int size = static_cast<int>(pes.size());
  const int stride = size > 1 ? pes[1] - pes[0] : 1;
  if (stride == 0) return std::nullopt;
  for (int rank = 0; rank < size; ++rank)
    if (pes[static_cast<std::size_t>(rank)] != pes[0] + rank * stride) return std::nullopt;
  return Triplet{pes[0], stride, size};
}

}  // namespace

Members::Members(std::vector<int> list) {
  if (const auto triplet = triplet_of(list)) {
    pes_ = *triplet;
    return;
  }
  pes_.size = static_cast<int>(list.size());
  list_ = std::move(list);
}

int Members::rank(int pe) const {
  if (is_list()) {
    const auto found = std::ranges::find(list_, pe);
    return found == list_.end() ? -1 : static_cast<int>(found - list_.begin());
  }
  const int steps = (pe - pes_.start) / pes_.stride;
  const bool is_member = steps >= 0 && steps < pes_.size && this->pe(steps) == pe;
  return is_member ? steps : -1;
}

bool Members::fits(const Triplet& ranks) const {
  if (ranks.size <= 0 || ranks.start < 0 || ranks.start >= size()) return false;
  if (ranks.stride == 0) return ranks.size == 1;
  const std::int64_t last = ranks.start + std::int64_t{ranks.size - 1} * ranks.stride;
  return last >= 0 && last < size();
}

Members Members::subset(const Triplet& ranks) const {
  std::vector<int> list;
  if (is_list()) {
    for (int i = 0; i < ranks.size; ++i) list.push_back(pe(ranks.start + i * ranks.stride));
    return Members(std::move(list));
  }
  const int stride = ranks.size == 1 ? 1 : ranks.stride * pes_.stride;
  return Members(Triplet{pe(ranks.start), stride, ranks.size});
}

std::string Members::words() const {
  constexpr std::size_t kMost = 8;  // ranges
  std::vector<int> pes;
  for (int rank = 0; rank < size(); ++rank) pes.push_back(pe(rank));
  std::ranges::sort(pes);
  std::string words = pes.size() == 1 ? "PE" : "PEs";
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < pes.size(); ++ranges) {
    if (ranges == kMost) return words + fmt::format(" and {} more", pes.size() - i);
    std::size_t end = i + 1;
    while (end < pes.size() && pes[end] == pes[end - 1] + 1) ++end;
    words += fmt::format("{}{}", ranges == 0 ? " " : ", ", pes[i]);
    if (end - i > 1) words += fmt::format("-{}", pes[end - 1]);
    i = end;
  }
  return words;
}

}  // namespace chime::host
