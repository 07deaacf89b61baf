// The decomposition's invariants, on every PE of a job: run under chime-run with 1, 2, 4 or 8 PEs.
//
// Every PE knows the whole system (it is made from a seed), so each can compute by itself what it
// must own and see:
// - each atom is owned once, by the PE whose box holds it, with its own velocity and image counts;
// - atoms that cross a face, an edge or a corner arrive, in all 26 directions at once;
// - ghosts are exactly the atoms within reach of the box, periodic images included, each once;
// - an update brings every ghost its owner's new value, which the value itself shows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "kernels/ghost_lists.cuh"
#include "run/rebuild.hpp"
#include "system/lattice.hpp"
#include "system/shape.hpp"

namespace particles {
namespace {

constexpr int kCells = 8;  // 2048 atoms; on 8 PEs each side of a subdomain is 6.7
constexpr double kReach = 2.8;

int failures = 0;

template <class... A>
void expect(bool fact, fmt::format_string<A...> what, A&&... arguments) {
  if (fact) return;
  ++failures;
  fmt::print(stderr, "FAILED on PE {}: {}\n", chime_my_pe(),
             fmt::format(what, std::forward<A>(arguments)...));
}

// Positions off the lattice, so that no two atoms share a coordinate and no atom lies on a
// boundary.
Sample shaken_lattice() {
  Sample sample = make_lattice(kCells, 1);
  for (Atom& atom : sample.atoms) {
    for (int d = 0; d < 3; ++d) {
      atom.x[d] += 0.3 + 0.1 * atom.v[d];
      if (atom.x[d] >= sample.box.hi[d]) atom.x[d] -= sample.box.length(d);
      if (atom.x[d] < sample.box.lo[d]) atom.x[d] += sample.box.length(d);
    }
  }
  return sample;
}

// The movement of an atom between two rebuilds: the same rule on every PE. On each PE the first 26
// atoms (by id) jump to just beyond its box, one in each direction; the others stay.
class Jumps {
 public:
  Jumps(const Sample& sample, const Grid& grid) {
    std::map<int, int> jumped;
    for (const Atom& atom : sample.atoms) {
      const int owner = make_domain(sample.box, grid, 0).owner_of(atom.x);
      int& count = jumped[owner];
      if (count == kHome) ++count;
      if (count >= kDirections) continue;
      target_[atom.id] = target(make_domain(sample.box, grid, owner), count++);
    }
  }

  bool has(std::int64_t id) const { return target_.count(id) != 0; }
  const Vec3& of(std::int64_t id) const { return target_.at(id); }

  // Unwrapped: may lie outside the box.
  void apply(Sample& sample) const {
    for (Atom& atom : sample.atoms) {
      if (has(atom.id)) atom.x = of(atom.id);
    }
  }

 private:
  // 0.1 beyond the box in the direction; in the other coordinates inside it, a little different for
  // each direction.
  static Vec3 target(const Domain& domain, int d) {
    Vec3 x{};
    for (int k = 0; k < 3; ++k) {
      const double side = direction(d)[k];
      x[k] = side < 0   ? domain.mine.lo[k] - 0.1
             : side > 0 ? domain.mine.hi[k] + 0.1
                        : domain.mine.lo[k] + 1 + 0.01 * d;
    }
    return x;
  }

  std::map<std::int64_t, Vec3> target_;
};

void wrap(Sample& sample) {
  for (Atom& atom : sample.atoms) {
    for (int d = 0; d < 3; ++d) {
      if (atom.x[d] < sample.box.lo[d]) {
        atom.x[d] += sample.box.length(d);
        --atom.image[d];
      } else if (atom.x[d] >= sample.box.lo[d] + sample.box.length(d)) {
        atom.x[d] -= sample.box.length(d);
        ++atom.image[d];
      }
    }
  }
}

// This PE's atoms, in the order of device memory.
std::vector<Atom> download_own(const View<double>& view, int parity) {
  std::vector<Atom> atoms(view.own);
  std::vector<std::int64_t> id(view.own);
  std::vector<double> value(view.own);
  std::vector<std::int32_t> image(view.own);
  download(id.data(), view.id, id.size());
  for (int i = 0; i < view.own; ++i) atoms[i].id = id[i];
  for (int d = 0; d < 3; ++d) {
    download(value.data(), view.x[parity][d], value.size());
    for (int i = 0; i < view.own; ++i) atoms[i].x[d] = value[i];
    download(value.data(), view.v[d], value.size());
    for (int i = 0; i < view.own; ++i) atoms[i].v[d] = value[i];
    download(image.data(), view.image[d], image.size());
    for (int i = 0; i < view.own; ++i) atoms[i].image[d] = image[i];
  }
  return atoms;
}

std::vector<Vec3> download_ghosts(const View<double>& view, int parity) {
  std::vector<Vec3> ghosts(view.ghosts);
  std::vector<double> value(view.ghosts);
  for (int d = 0; d < 3; ++d) {
    download(value.data(), view.x[parity][d] + view.own, value.size());
    for (int i = 0; i < view.ghosts; ++i) ghosts[i][d] = value[i];
  }
  return ghosts;
}

void upload_positions(const View<double>& view, int parity, const std::vector<Vec3>& x) {
  std::vector<double> value(x.size());
  for (int d = 0; d < 3; ++d) {
    for (std::size_t i = 0; i < x.size(); ++i) value[i] = x[i][d];
    upload(view.x[parity][d], value.data(), value.size());
  }
}

// One PE of the job, with the memory and the rebuilds of the program itself.
class Pe {
 public:
  explicit Pe(const Options& options)
      : start_(shaken_lattice()),
        grid_(choose_grid(start_.box, chime_n_pes(), kReach, std::nullopt)),
        domain_(make_domain(start_.box, grid_, chime_my_pe())),
        crowd_(count_crowd(start_, grid_, kReach)),
        launcher_(choose_shape(options, crowd_.own)),
        memory_(options, domain_, capacity_for(crowd_), launcher_.shape(), chime_n_pes()),
        rebuilder_(memory_, launcher_) {
    load_atoms(memory_, start_, domain_);
    chime_barrier_all();
  }

  void test() {
    Sample now = start_;
    rebuilder_.run(0, 1);
    check_owned(now, 0);
    check_ghosts(now, 0);

    const Jumps jumps(now, grid_);
    jump(jumps, 0);
    jumps.apply(now);
    wrap(now);
    rebuilder_.run(0, 2);
    check_owned(now, 0);
    check_ghosts(now, 0);
    check_update(now);
  }

 private:
  void check_owned(const Sample& all, int parity) const {
    std::vector<Atom> expected;
    for (const Atom& atom : all.atoms) {
      if (domain_.owner_of(atom.x) == memory_.view.pe) expected.push_back(atom);
    }
    std::vector<Atom> seen = download_own(memory_.view, parity);
    std::sort(seen.begin(), seen.end(), [](const Atom& a, const Atom& b) { return a.id < b.id; });
    expect(seen.size() == expected.size(), "owns {} atoms instead of {}", seen.size(),
           expected.size());
    for (std::size_t i = 0; i < std::min(seen.size(), expected.size()); ++i) {
      const Atom &a = seen[i], &b = expected[i];
      expect(a.id == b.id, "owns atom {} where {} should be", a.id, b.id);
      expect(a.x == b.x && a.v == b.v, "atom {} has another position or velocity", a.id);
      expect(a.image == b.image, "atom {} has another image count", a.id);
      for (int d = 0; d < 3; ++d) {
        expect(a.x[d] >= domain_.mine.lo[d] && a.x[d] < domain_.mine.hi[d],
               "atom {} lies outside its owner", a.id);
      }
    }
  }

  // All images of all atoms within reach of my box, except my own atoms themselves. Computed from
  // here, not by the rule with which owners choose what to send.
  std::vector<Vec3> ghosts_of(const Sample& all) const {
    std::vector<Vec3> ghosts;
    for (const Atom& atom : all.atoms) {
      for (int d = 0; d < kDirections; ++d) {
        Vec3 x{};
        bool is_near = true;
        for (int k = 0; k < 3; ++k) {
          x[k] = atom.x[k] + direction(d)[k] * all.box.length(k);
          is_near &= x[k] >= domain_.mine.lo[k] - kReach && x[k] < domain_.mine.hi[k] + kReach;
        }
        const bool is_mine = d == kHome && domain_.owner_of(atom.x) == memory_.view.pe;
        if (is_near && !is_mine) ghosts.push_back(x);
      }
    }
    return ghosts;
  }

  void check_ghosts(const Sample& all, int parity) const {
    std::vector<Vec3> expected = ghosts_of(all), seen = download_ghosts(memory_.view, parity);
    std::sort(expected.begin(), expected.end());
    std::sort(seen.begin(), seen.end());
    expect(seen == expected, "sees {} ghosts, {} are within reach, or they differ", seen.size(),
           expected.size());
  }

  void jump(const Jumps& jumps, int parity) {
    std::vector<Vec3> x;
    for (const Atom& atom : download_own(memory_.view, parity))
      x.push_back(jumps.has(atom.id) ? jumps.of(atom.id) : atom.x);
    upload_positions(memory_.view, parity, x);
  }

  // Own atoms of the other parity get encode(id, d); each ghost must then hold the value of its
  // original.
  void check_update(const Sample& all) {
    const std::vector<Atom> own = download_own(memory_.view, 0);
    std::vector<Vec3> code;
    for (const Atom& atom : own)
      code.push_back({encode(atom.id, 0), encode(atom.id, 1), encode(atom.id, 2)});
    upload_positions(memory_.view, 1, code);
    launcher_.grid(exchange_ghosts<double>, memory_.view, 1, std::uint64_t{3});

    const std::vector<Vec3> before = download_ghosts(memory_.view, 0),
                            after = download_ghosts(memory_.view, 1);
    for (int d = 0; d < kDirections; ++d) {
      const Vec3 shift = make_domain(all.box, grid_, domain_.neighbour[d]).shift[opposite(d)];
      for (int g = memory_.view.ghost_start[d]; g < memory_.view.ghost_start[d + 1]; ++g) {
        const std::int64_t id = id_near(all, before[g], shift);
        for (int k = 0; k < 3; ++k) {
          expect(after[g][k] == encode(id, k) + shift[k],
                 "ghost {} of direction {} has {} in direction {}", id, d, after[g][k], k);
        }
      }
    }
  }

  static double encode(std::int64_t id, int d) { return static_cast<double>(4 * id + d); }

  static std::int64_t id_near(const Sample& all, const Vec3& ghost, const Vec3& shift) {
    for (const Atom& atom : all.atoms) {
      if (atom.x[0] + shift[0] == ghost[0] && atom.x[1] + shift[1] == ghost[1] &&
          atom.x[2] + shift[2] == ghost[2]) {
        return atom.id;
      }
    }
    return -1;
  }

  const Sample start_;
  const Grid grid_;
  const Domain domain_;
  const Crowd crowd_;
  const Launcher launcher_;
  Memory<double> memory_;
  Rebuilder<double> rebuilder_;
};

}  // namespace
}  // namespace particles

int main() {
  chime_init();
  for (const auto& [blocks, threads] : {std::pair{0, 0}, {2, 1}, {1, 40}}) {
    particles::Options options;
    options.blocks = blocks;
    options.threads = threads;
    particles::Pe(options).test();
  }
  chime_finalize();
  return particles::failures == 0 ? 0 : 1;
}
