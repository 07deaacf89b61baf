#include "run/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "files/progress.hpp"

namespace particles {
namespace {

using Key = std::int64_t;

constexpr Key kMostCells = Key{1} << 20;  // in a direction: three of them are numbered by a Key

// Cells at least kNearest wide, so that an atom that is too near lies in the same or a neighbouring
// cell. Only the atoms are kept, sorted by cell: a box may have many more cells than atoms. A cell
// holds few, because the first two that are too near end the search.
class SortedCells {
 public:
  struct Entry {
    Key key;
    std::size_t atom;
  };

  explicit SortedCells(const Sample& sample) : box_(sample.box) {
    for (int d = 0; d < 3; ++d) {
      const double cells = std::floor(box_.length(d) / kNearest);
      n_[d] = static_cast<Key>(std::clamp(cells, 1.0, static_cast<double>(kMostCells)));
    }
    entries_.reserve(sample.atoms.size());
    for (std::size_t i = 0; i < sample.atoms.size(); ++i)
      entries_.push_back({key_of(cell_of(sample.atoms[i].x)), i});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
  }

  // Calls visit(atom) for all atoms in half of the cells around x, its own included: so each pair
  // of neighbouring cells is seen from one of the two.
  template <class Visit>
  void for_each_near(const Vec3& x, Visit visit) const {
    constexpr int kHalf[5][2] = {{0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};  // in y and z
    const Cell cell = cell_of(x);
    for (const auto& [dy, dz] : kHalf) {
      const Key y = wrapped(cell[1] + dy, 1), z = wrapped(cell[2] + dz, 2);
      const Key first = std::max<Key>(cell[0] - 1, 0), last = std::min(cell[0] + 1, n_[0] - 1);
      visit_row({first, y, z}, last, visit);
      if (cell[0] == 0) visit_row({n_[0] - 1, y, z}, n_[0] - 1, visit);
      if (cell[0] == n_[0] - 1) visit_row({0, y, z}, 0, visit);
    }
  }

 private:
  using Cell = std::array<Key, 3>;

  // Cells of a row in x have consecutive keys.
  template <class Visit>
  void visit_row(const Cell& first, Key last, Visit visit) const {
    const Key from = key_of(first), to = from + (last - first[0]);
    auto entry = std::lower_bound(entries_.begin(), entries_.end(), from,
                                  [](const Entry& e, Key key) { return e.key < key; });
    for (; entry != entries_.end() && entry->key <= to; ++entry) visit(entry->atom);
  }

  Cell cell_of(const Vec3& x) const {
    Cell cell{};
    for (int d = 0; d < 3; ++d) {
      const double s = (x[d] - box_.lo[d]) / box_.length(d);
      cell[d] = std::clamp(static_cast<Key>(s * static_cast<double>(n_[d])), Key{0}, n_[d] - 1);
    }
    return cell;
  }
  Key key_of(const Cell& c) const { return c[0] + n_[0] * (c[1] + n_[1] * c[2]); }
  Key wrapped(Key c, int d) const { return (c + n_[d]) % n_[d]; }

  Box box_;
  Cell n_{};
  std::vector<Entry> entries_;
};

double distance_in(const Box& box, const Vec3& a, const Vec3& b) {
  double squares = 0;
  for (int d = 0; d < 3; ++d) {
    const double x = a[d] - b[d], length = box.length(d);
    const double nearest = x - length * std::round(x / length);
    squares += nearest * nearest;
  }
  return std::sqrt(squares);
}

}  // namespace

void require_apart(const Sample& sample, const std::string& file) {
  Phase phase("looking for atoms that lie on each other",
              static_cast<std::int64_t>(sample.atoms.size()), "atoms");
  const SortedCells cells(sample);
  for (std::size_t i = 0; i < sample.atoms.size(); ++i) {
    phase.at(static_cast<std::int64_t>(i));
    const Atom& a = sample.atoms[i];
    cells.for_each_near(a.x, [&](std::size_t j) {
      const Atom& b = sample.atoms[j];
      if (i == j) return;
      const double distance = distance_in(sample.box, a.x, b.x);
      if (distance >= kNearest) return;
      throw InputError(fmt::format(
          "{}: atoms {} and {} are {:.3g} sigma apart: nearer than {:g} their force throws the "
          "system apart; move one of them, or relax the system first (LAMMPS: minimize)",
          file, std::min(a.id, b.id), std::max(a.id, b.id), distance, kNearest));
    });
  }
}

}  // namespace particles
