#include "patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace chime::perf {
namespace {

int greatest_divisor_up_to(int n, double limit) {
  int divisor = std::max(1, static_cast<int>(limit));
  while (n % divisor != 0) --divisor;
  return divisor;
}

std::array<int, 3> box_of(int n) {
  const int x = greatest_divisor_up_to(n, std::cbrt(static_cast<double>(n)) + 1e-6);
  const int y = greatest_divisor_up_to(n / x, std::sqrt(static_cast<double>(n / x)) + 1e-6);
  return {x, y, n / x / y};
}

void add(std::vector<int>& peers, int me, int pe) {
  if (pe != me && std::find(peers.begin(), peers.end(), pe) == peers.end()) peers.push_back(pe);
}

std::vector<int> neighbours(int me, const std::array<int, 3>& box) {
  std::vector<int> peers;
  for (int axis = 0, stride = 1; axis < 3; stride *= box[static_cast<std::size_t>(axis++)]) {
    const int length = box[static_cast<std::size_t>(axis)];
    const int at = me / stride % length;
    for (const int step : {1, length - 1})
      add(peers, me, me + ((at + step) % length - at) * stride);
  }
  return peers;
}

}  // namespace

std::string name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kHalo:
      return "halo";
    case Pattern::kRandom:
      return "random";
    case Pattern::kAllToAll:
      return "all-to-all";
    case Pattern::kNone:
      break;
  }
  return "none";
}

std::vector<std::vector<int>> peers_by(Pattern pattern, int n_pes, int degree) {
  std::vector<std::vector<int>> peers(static_cast<std::size_t>(n_pes));
  const auto box = box_of(n_pes);
  std::mt19937 random(1);
  for (int pe = 0; pe < n_pes; ++pe) {
    auto& mine = peers[static_cast<std::size_t>(pe)];
    if (pattern == Pattern::kHalo) mine = neighbours(pe, box);
    if (pattern == Pattern::kRandom)
      for (int i = 0; i < degree; ++i)
        add(mine, pe, static_cast<int>(random() % static_cast<unsigned>(n_pes)));
    if (pattern == Pattern::kAllToAll)
      for (int i = 1; i < n_pes; ++i) mine.push_back((pe + i) % n_pes);
  }
  return peers;
}

}  // namespace chime::perf
