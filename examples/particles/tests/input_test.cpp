// The host's parts: files, lattice, domains, sums, thermo and g(r).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "files/data_file.hpp"
#include "files/dump_file.hpp"
#include "files/pair_distribution.hpp"
#include "files/progress.hpp"
#include "kernels/sum.cuh"
#include "run/overlap.hpp"
#include "system/domain.hpp"
#include "system/lattice.hpp"
#include "system/thermo.hpp"
#include "system/validate.hpp"

namespace particles {
namespace {

using namespace std::chrono_literals;

const std::string kData = PARTICLES_DATA;

std::string what_of(auto call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

double temperature_of(const Sample& sample) {
  double squares = 0;
  for (const Atom& atom : sample.atoms) {
    for (double v : atom.v) squares += v * v;
  }
  return squares / (3.0 * static_cast<double>(sample.atoms.size()) - 3);
}

TEST(DataFile, HoldsAtomsAndVelocitiesOfLammps) {
  const Sample sample = read_data_file(kData + "/data.lj.256.step0");
  ASSERT_EQ(sample.atoms.size(), 256u);
  EXPECT_DOUBLE_EQ(sample.box.length(0), 6.718384765530029);
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(sample.atoms[i].id, static_cast<std::int64_t>(i) + 1);
  EXPECT_NEAR(temperature_of(sample), 1.44, 1e-14);
}

TEST(DataFile, TakesThePairCoefficientsThatLammpsWrites) {
  const std::string path = testing::TempDir() + "pair_coefficients";
  std::ifstream original(kData + "/data.lj.256.step0");
  std::ofstream copy(path);
  for (std::string line; std::getline(original, line);) {
    if (line.rfind("Atoms", 0) == 0) copy << "Pair Coeffs # lj/cut\n\n1 1 1 2.5\n\n";
    copy << line << '\n';
  }
  copy.close();
  EXPECT_EQ(read_data_file(path).atoms.size(), 256u);
}

TEST(DataFile, KeepsImageCounts) {
  const Sample sample = read_data_file(kData + "/data.lj.4k.melt.check.gz");
  EXPECT_EQ(sample.atoms[0].image, (Image{-1, -1, -1}));
  EXPECT_EQ(sample.atoms[1].image, (Image{0, 0, -1}));
}

TEST(Lattice, HasTheLatticeOfLammpsAndNoMomentum) {
  const Sample mine = make_lattice(10, 1);
  ASSERT_EQ(mine.atoms.size(), 4000u);
  EXPECT_NEAR(mine.box.length(0), 16.795961913825074, 1e-13);
  EXPECT_NEAR(temperature_of(mine), 1.44, 1e-13);
  for (int d = 0; d < 3; ++d) {
    double sum = 0;
    for (const Atom& atom : mine.atoms) sum += atom.v[d];
    EXPECT_LT(std::abs(sum), 1e-11);
  }
}

TEST(Lattice, VelocitiesFollowTheSeed) {
  EXPECT_EQ(make_lattice(4, 7).atoms[100].v, make_lattice(4, 7).atoms[100].v);
  EXPECT_NE(make_lattice(4, 7).atoms[100].v, make_lattice(4, 8).atoms[100].v);
}

TEST(Grid, HasTheLeastSurface) {
  const Box cube{{0, 0, 0}, {12, 12, 12}};
  EXPECT_EQ(choose_grid(cube, 8, 2.8, std::nullopt), (Grid{2, 2, 2}));
  EXPECT_EQ(choose_grid(cube, 4, 2.8, std::nullopt), (Grid{1, 2, 2}));
  EXPECT_EQ(choose_grid({{0, 0, 0}, {40, 10, 10}}, 4, 2.8, std::nullopt), (Grid{4, 1, 1}));
}

TEST(Grid, AvoidsSubdomainsThatAreTooSmall) {
  // 2x2x2 would have less surface, but its sides of 2.5 are too short.
  EXPECT_EQ(choose_grid({{0, 0, 0}, {5, 5, 30}}, 8, 2.8, std::nullopt), (Grid{1, 1, 8}));
}

TEST(Grid, TooSmallSaysTheNumbers) {
  const Box cube{{0, 0, 0}, {6.718, 6.718, 6.718}};
  const std::string words = what_of([&] { choose_grid(cube, 3, 2.8, std::nullopt); });
  EXPECT_NE(words.find("2.23933"), std::string::npos) << words;
  EXPECT_NE(words.find("2.8"), std::string::npos) << words;
}

TEST(Domain, NeighboursAreMutual) {
  const Box box{{0, 0, 0}, {12, 12, 12}};
  for (const Grid& grid :
       {Grid{1, 1, 1}, Grid{1, 1, 2}, Grid{2, 2, 2}, Grid{3, 2, 1}, Grid{4, 1, 1}}) {
    for (int pe = 0; pe < grid[0] * grid[1] * grid[2]; ++pe) {
      const Domain mine = make_domain(box, grid, pe);
      for (int d = 0; d < kDirections; ++d) {
        const Domain theirs = make_domain(box, grid, mine.neighbour[d]);
        EXPECT_EQ(theirs.neighbour[kDirections - 1 - d], pe);
        for (int k = 0; k < 3; ++k)
          EXPECT_EQ(theirs.shift[kDirections - 1 - d][k], -mine.shift[d][k]);
      }
    }
  }
}

TEST(Domain, BoxesCoverTheBox) {
  const Box box{{-1, 0, 2}, {11, 13, 16.3}};
  const Grid grid{3, 1, 2};
  double volume = 0;
  for (int pe = 0; pe < 6; ++pe) {
    const Domain domain = make_domain(box, grid, pe);
    volume += domain.mine.volume();
    Vec3 centre{};
    for (int d = 0; d < 3; ++d) centre[d] = (domain.mine.lo[d] + domain.mine.hi[d]) / 2;
    EXPECT_EQ(domain.owner_of(centre), pe);
    EXPECT_EQ(domain.owner_of(domain.mine.lo), pe);
  }
  EXPECT_NEAR(volume, box.volume(), 1e-9);
}

TEST(Dump, ReadsWhatItWrites) {
  Frame frame{.step = 42, .sample = read_data_file(kData + "/data.lj.256.step0")};
  frame.sample.atoms[3].f = {0.1, -1.0 / 3, 1e-17};
  frame.sample.atoms[3].image = {1, -2, 0};
  const std::string path = testing::TempDir() + "particles.dump";
  DumpWriter(path).write(frame);
  const std::vector<Frame> read = read_dump_file(path);
  std::remove(path.c_str());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].step, 42);
  for (std::size_t i = 0; i < 256; ++i) {
    const Atom &a = frame.sample.atoms[i], &b = read[0].sample.atoms[i];
    EXPECT_TRUE(a.id == b.id && a.x == b.x && a.v == b.v && a.f == b.f && a.image == b.image)
        << "atom " << a.id;
  }
}

TEST(Dump, ReadsLammpsAlsoCompressed) {
  const std::vector<Frame> frames = read_dump_file(kData + "/dump.lj.4k.exact.xvf.gz");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].step, 100);
  EXPECT_EQ(frames[1].sample.atoms.size(), 4000u);
}

TEST(Dump, MistakeHasFileAndLine) {
  const std::string path = testing::TempDir() + "particles.bad.dump";
  std::ofstream(path) << "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\nmany\n";
  const std::string words = what_of([&] { read_dump_file(path); });
  std::remove(path.c_str());
  EXPECT_NE(words.find("particles.bad.dump:4: 'many'"), std::string::npos) << words;
}

TEST(Reference, SeesADifferenceAndIgnoresWrapping) {
  const std::string path = kData + "/dump.lj.256.exact.xvf";
  const Reference reference(path);
  Frame mine = reference.frames()[1];
  mine.sample.atoms[7].x[1] += mine.sample.box.length(1);
  mine.sample.atoms[7].image[1] -= 1;
  EXPECT_LT(reference.compare(mine).position.max, 1e-14);
  mine.sample.atoms[7].x[1] += 0.25;
  EXPECT_NEAR(reference.compare(mine).position.max, 0.25, 1e-14);
  EXPECT_NEAR(reference.compare(mine).position.rms, 0.25 / 16, 1e-14);
  mine.sample.atoms[7].f[0] = std::nan("");
  EXPECT_TRUE(std::isnan(reference.compare(mine).force.max));
}

// The nearest two of all pairs, through the faces of the box, too.
double least_distance(const Sample& sample) {
  double least = 1e9;
  for (std::size_t i = 0; i < sample.atoms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double squares = 0;
      for (int d = 0; d < 3; ++d) {
        const double x = std::abs(sample.atoms[i].x[d] - sample.atoms[j].x[d]);
        const double nearest = std::min(x, sample.box.length(d) - x);
        squares += nearest * nearest;
      }
      least = std::min(least, std::sqrt(squares));
    }
  }
  return least;
}

TEST(Overlap, IsFoundWhereAllPairsSayThatItIs) {
  const Box boxes[] = {{{0, 0, 0}, {4, 4, 4}},          {{-3, 1, 0}, {0, 1.2, 40}},
                       {{0, 0, 0}, {0.4, 9, 1.1}},      {{0, 0, 0}, {1.4, 1.4, 1.4}},
                       {{-1e6, 0, 0}, {1e6, 0.6, 0.6}}, {{5, 5, 5}, {9, 8, 7}}};
  std::mt19937 random(1);
  int found = 0, tried = 0;
  for (const Box& box : boxes) {
    for (int atoms = 2; atoms <= 12; ++atoms) {
      for (int round = 0; round < 40; ++round) {
        Sample sample{.box = box, .atoms = std::vector<Atom>(static_cast<std::size_t>(atoms))};
        for (int i = 0; i < atoms; ++i) {
          Atom& atom = sample.atoms[static_cast<std::size_t>(i)];
          atom.id = i + 1;
          for (int d = 0; d < 3; ++d)
            atom.x[d] = std::uniform_real_distribution(box.lo[d], box.hi[d])(random);
        }
        const bool is_found = !what_of([&] { require_apart(sample, "a"); }).empty();
        ASSERT_EQ(is_found, least_distance(sample) < kNearest) << "seed 1, try " << tried;
        found += is_found;
        ++tried;
      }
    }
  }
  EXPECT_GT(found, tried / 10);
  EXPECT_LT(found, tried * 9 / 10);
}

TEST(Overlap, NamesTheTwoAtomsAndTheirDistance) {
  Sample sample = make_lattice(4, 1);
  EXPECT_EQ(what_of([&] { require_apart(sample, "a"); }), "");
  sample.atoms[100].x = sample.atoms[7].x;
  sample.atoms[100].x[2] += 0.25;
  const std::string words = what_of([&] { require_apart(sample, "data.x"); });
  EXPECT_NE(words.find("data.x: atoms 8 and 101 are 0.25 sigma apart"), std::string::npos) << words;
}

TEST(Progress, SaysHowFarItIs) {
  Phase outer("making the crystal", 400, "atoms");
  outer.at(100);
  EXPECT_EQ(outer.words(), "making the crystal: 100 of 400 atoms (25 %)");
  EXPECT_EQ(Phase("reading x", 0, "lines").words(), "reading x: 0 lines");
  EXPECT_EQ(Phase("rebuilding").words(), "rebuilding");
}

// The output during `work`, with a thread that reports after `first_silence`.
template <class Work>
std::string output_during(std::chrono::milliseconds first_silence, Work work) {
  testing::internal::CaptureStderr();
  {
    const Teller teller(first_silence);
    Phase outer("the outer", 10, "things");
    outer.at(3);
    { Phase inner("the inner", 10, "things"); }
    work();
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, ShortWorkIsSilent) {
  EXPECT_EQ(output_during(std::chrono::hours(1), [] { std::this_thread::sleep_for(100ms); }), "");
}

// However late the thread comes, each silence is twice the one before.
TEST(Progress, LongWorkIsToldEverMoreRarely) {
  constexpr auto kFirst = 10ms;
  const auto start = std::chrono::steady_clock::now();
  const std::string words = output_during(kFirst, [] { std::this_thread::sleep_for(1s); });
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(words.rfind("particles: the outer: 3 of 10 things (30 %), ", 0), 0u) << words;
  const auto lines = std::count(words.begin(), words.end(), '\n');
  EXPECT_LE(kFirst * ((1 << lines) - 1), took) << words;
}

TEST(Progress, WhatTheUserIsToldOtherwiseBeginsTheSilenceAnew) {
  EXPECT_EQ(output_during(2s,
                          [] {
                            for (int i = 0; i < 300; ++i) {
                              std::this_thread::sleep_for(10ms);
                              note_told();
                            }
                          }),
            "");
}

TEST(Sum, KeepsWhatRoundingLoses) {
  Sum sum, other;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(0.1);
  other.add(-1e16);
  sum.add(other);
  EXPECT_NEAR(sum.value(), 100.0, 1e-11);
}

TEST(Thermo, IsThatOfLammps) {
  // Step 0 of the 256 atoms: 3N - 3 degrees of freedom.
  const Sample sample = read_data_file(kData + "/data.lj.256.step0");
  Totals totals{.atoms = 256};
  totals.kinetic2 = 1.44 * (3 * 256 - 3);
  totals.potential = -6.77336805325296 * 256;
  totals.virial = -6.23531727008558 * 3 * sample.box.volume();
  const Thermo thermo = thermo_of(totals, sample.box);
  EXPECT_NEAR(thermo.temperature, 1.44, 1e-14);
  EXPECT_NEAR(thermo.total_energy, -4.62180555325295, 1e-13);
  EXPECT_NEAR(thermo.pressure, -5.02441789508558, 1e-13);
}

TEST(PairDistribution, CountsTheShellsOfTheLattice) {
  const Sample sample = make_lattice(5, 1);
  const double nearest = std::cbrt(4.0 / 0.8442) / std::sqrt(2.0);
  const PairDistribution pairs = pair_distribution(sample, 2.5, 0.05);
  const double density = static_cast<double>(sample.atoms.size()) / sample.box.volume();
  double count = 0;
  for (std::size_t k = 0; k < pairs.g.size() && (k + 1) * 0.05 < 1.3 * nearest; ++k) {
    const double shell = 4.0 / 3 * M_PI * (std::pow((k + 1) * 0.05, 3) - std::pow(k * 0.05, 3));
    count += pairs.g[k] * density * shell;
  }
  EXPECT_NEAR(count, 12, 1e-9);
}

}  // namespace
}  // namespace particles
