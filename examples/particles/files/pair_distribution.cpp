#include "files/pair_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "files/progress.hpp"

namespace particles {
namespace {

// Atoms by cubic cell at least `range` wide, so that partners lie in neighbouring cells.
class CellTable {
 public:
  CellTable(const Sample& sample, double range) : box_(sample.box) {
    for (int d = 0; d < 3; ++d) n_[d] = std::max(1, static_cast<int>(box_.length(d) / range));
    cells_.resize(static_cast<std::size_t>(n_[0]) * n_[1] * n_[2]);
    for (std::size_t i = 0; i < sample.atoms.size(); ++i) {
      int c[3];
      for (int d = 0; d < 3; ++d) c[d] = coordinate(sample.atoms[i].x[d], d);
      cells_[index(c)].push_back(static_cast<int>(i));
    }
  }

  // Calls visit(j) for every atom in the 27 cells around x, each cell once.
  template <class Visit>
  void for_each_near(const Vec3& x, Visit visit) const {
    int from[3], count[3];
    for (int d = 0; d < 3; ++d) {
      count[d] = std::min(3, n_[d]);
      from[d] = count[d] == 3 ? coordinate(x[d], d) - 1 : 0;
    }
    for (int k = 0; k < count[0] * count[1] * count[2]; ++k) {
      const int c[3] = {from[0] + k % count[0], from[1] + k / count[0] % count[1],
                        from[2] + k / count[0] / count[1]};
      const int wrapped[3] = {(c[0] + n_[0]) % n_[0], (c[1] + n_[1]) % n_[1],
                              (c[2] + n_[2]) % n_[2]};
      for (int j : cells_[index(wrapped)]) visit(j);
    }
  }

 private:
  int coordinate(double x, int d) const {
    const double s = (x - box_.lo[d]) / box_.length(d);
    return std::clamp(static_cast<int>((s - std::floor(s)) * n_[d]), 0, n_[d] - 1);
  }
  std::size_t index(const int (&c)[3]) const {
    return c[0] + static_cast<std::size_t>(n_[0]) * (c[1] + static_cast<std::size_t>(n_[1]) * c[2]);
  }

  Box box_;
  int n_[3];
  std::vector<std::vector<int>> cells_;
};

double distance_in(const Box& box, const Vec3& a, const Vec3& b) {
  double r2 = 0;
  for (int d = 0; d < 3; ++d) {
    double x = a[d] - b[d];
    x -= box.length(d) * std::round(x / box.length(d));
    r2 += x * x;
  }
  return std::sqrt(r2);
}

}  // namespace

PairDistribution pair_distribution(const Sample& sample, double range, double width) {
  for (int d = 0; d < 3; ++d) range = std::min(range, sample.box.length(d) / 2);
  PairDistribution result{.width = width,
                          .g = std::vector<double>(static_cast<std::size_t>(range / width))};
  const CellTable cells(sample, range);
  Phase phase("computing g(r) for --plot", static_cast<std::int64_t>(sample.atoms.size()), "atoms");
  for (std::size_t i = 0; i < sample.atoms.size(); ++i) {
    phase.at(static_cast<std::int64_t>(i));
    cells.for_each_near(sample.atoms[i].x, [&](int j) {
      if (static_cast<std::size_t>(j) == i) return;
      const auto bin = static_cast<std::size_t>(
          distance_in(sample.box, sample.atoms[i].x, sample.atoms[j].x) / width);
      if (bin < result.g.size()) result.g[bin] += 1;
    });
  }
  const double n = static_cast<double>(sample.atoms.size());
  for (std::size_t k = 0; k < result.g.size(); ++k) {
    const double shell =
        4.0 / 3.0 * std::numbers::pi * (std::pow((k + 1) * width, 3) - std::pow(k * width, 3));
    result.g[k] /= n * (n / sample.box.volume()) * shell;
  }
  return result;
}

}  // namespace particles
