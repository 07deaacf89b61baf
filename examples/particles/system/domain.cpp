#include "system/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "files/progress.hpp"

namespace particles {
namespace {

Vec3 part_of(const Box& box, const Grid& grid) {
  return {box.length(0) / grid[0], box.length(1) / grid[1], box.length(2) / grid[2]};
}

double surface(const Vec3& part) {
  return part[0] * part[1] + part[1] * part[2] + part[2] * part[0];
}

bool is_wide_enough(const Vec3& part, double width) {
  return *std::min_element(part.begin(), part.end()) >= width;
}

int pe_at(const Grid& grid, const Grid& c) { return c[0] + grid[0] * (c[1] + grid[1] * c[2]); }

[[noreturn]] void fail_too_small(const Grid& grid, int pes, const Vec3& part, double width) {
  throw InputError(
      fmt::format("{} PEs as a grid of {}x{}x{} get subdomains of {:.6g} x {:.6g} x {:.6g}, but "
                  "each side must be at least "
                  "cutoff + skin = {:.6g}: use fewer PEs, a larger system, a smaller --cutoff or "
                  "--skin, or another --grid",
                  pes, grid[0], grid[1], grid[2], part[0], part[1], part[2], width));
}

// Calls visit(grid) for every product of three factors that gives `pes`; the later directions are
// split first.
template <class Visit>
void for_each_grid(int pes, Visit visit) {
  for (int x = 1; x <= pes; ++x) {
    if (pes % x != 0) continue;
    for (int y = 1; y <= pes / x; ++y) {
      if (pes / x % y == 0) visit(Grid{x, y, pes / x / y});
    }
  }
}

// The slice of the box that contains a wrapped coordinate. Round-off at the upper bound belongs to
// the last slice.
int slice_of(double x, const Box& box, int d, int slices) {
  const int slice = static_cast<int>(std::floor((x - box.lo[d]) / box.length(d) * slices));
  return std::clamp(slice, 0, slices - 1);
}

}  // namespace

Grid choose_grid(const Box& box, int pes, double width, const std::optional<Grid>& wanted) {
  if (wanted) {
    const Grid& grid = *wanted;
    // A double holds every product exactly that can be the number of PEs.
    const double boxes = double(grid[0]) * grid[1] * grid[2];
    if (boxes != pes) {
      throw InputError(fmt::format("--grid {}x{}x{} has {:.0f} boxes, but the job has {} PEs",
                                   grid[0], grid[1], grid[2], boxes, pes));
    }
    if (!is_wide_enough(part_of(box, grid), width))
      fail_too_small(grid, pes, part_of(box, grid), width);
    return grid;
  }
  std::optional<Grid> best, best_of_all;
  const auto take_smaller = [&](std::optional<Grid>& kept, const Grid& grid) {
    if (!kept || surface(part_of(box, grid)) < surface(part_of(box, *kept)) * (1 - 1e-12))
      kept = grid;
  };
  for_each_grid(pes, [&](const Grid& grid) {
    take_smaller(best_of_all, grid);
    if (is_wide_enough(part_of(box, grid), width)) take_smaller(best, grid);
  });
  if (!best) fail_too_small(*best_of_all, pes, part_of(box, *best_of_all), width);
  return *best;
}

int Domain::owner_of(const Vec3& x) const {
  return pe_at(grid, {slice_of(x[0], box, 0, grid[0]), slice_of(x[1], box, 1, grid[1]),
                      slice_of(x[2], box, 2, grid[2])});
}

Domain make_domain(const Box& box, const Grid& grid, int pe) {
  Domain domain{};
  domain.box = box;
  domain.grid = grid;
  domain.coordinate = {pe % grid[0], pe / grid[0] % grid[1], pe / grid[0] / grid[1]};
  for (int k = 0; k < 3; ++k) {
    const int c = domain.coordinate[k];
    domain.mine.lo[k] = box.lo[k] + box.length(k) * c / grid[k];
    domain.mine.hi[k] =
        c + 1 == grid[k] ? box.hi[k] : box.lo[k] + box.length(k) * (c + 1) / grid[k];
  }
  for (int d = 0; d < kDirections; ++d) {
    Grid there{};
    for (int k = 0; k < 3; ++k) {
      const int c = domain.coordinate[k] + static_cast<int>(direction(d)[k]);
      there[k] = (c + grid[k]) % grid[k];
      // Beyond the box's end the neighbour is the first slice, which sees my atom one box length
      // lower.
      domain.shift[d][k] = c < 0 ? box.length(k) : c >= grid[k] ? -box.length(k) : 0.0;
    }
    domain.neighbour[d] = pe_at(grid, there);
  }
  return domain;
}

Crowd count_crowd(const Sample& sample, const Grid& grid, double width) {
  const int pes = grid[0] * grid[1] * grid[2];
  std::vector<Domain> domains;
  for (int pe = 0; pe < pes; ++pe) domains.push_back(make_domain(sample.box, grid, pe));
  std::vector<Crowd> crowds(pes);
  Phase phase("counting the atoms that PEs own and see",
              static_cast<std::int64_t>(sample.atoms.size()), "atoms");
  for (const Atom& atom : sample.atoms) {
    phase.at(&atom - sample.atoms.data());
    const int owner = domains.front().owner_of(atom.x);
    const Domain& home = domains[owner];
    ++crowds[owner].own;
    for (int d = 0; d < kDirections; ++d) {
      bool is_seen = true;
      for (int k = 0; k < 3; ++k) {
        const double side = direction(d)[k];
        if (side < 0) is_seen &= atom.x[k] < home.mine.lo[k] + width;
        if (side > 0) is_seen &= atom.x[k] >= home.mine.hi[k] - width;
      }
      if (is_seen) ++crowds[home.neighbour[d]].seen;
    }
  }
  Crowd most;
  for (const Crowd& crowd : crowds) {
    most.own = std::max(most.own, crowd.own);
    most.seen = std::max(most.seen, crowd.seen);
  }
  return most;
}

}  // namespace particles
