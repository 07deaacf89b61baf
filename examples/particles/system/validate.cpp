#include "system/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

// A NaN must not pass as "no difference": once it is there, it stays.
void add(Difference& sum, double delta) {
  if (std::isnan(delta) || std::abs(delta) > sum.max) sum.max = std::abs(delta);
  sum.rms += delta * delta;
}

void finish(Difference& sum, std::size_t atoms) {
  sum.rms = std::sqrt(sum.rms / static_cast<double>(atoms));
}

// x + image * length, taken as differences first: equal images cost no accuracy.
double unwrapped_difference(const Atom& a, const Atom& b, const Box& box, int d) {
  return (a.x[d] - b.x[d]) + (a.image[d] - b.image[d]) * box.length(d);
}

}  // namespace

Reference::Reference(const std::string& path) : path_(path), frames_(read_dump_file(path)) {}

void Reference::require_use(const Sample& sample, std::int64_t last) const {
  bool is_used = false;
  for (const Frame& frame : frames_) {
    if (frame.step < 0 || frame.step > last) continue;
    is_used = true;
    require_atoms(frame, sample);
  }
  if (is_used) return;
  constexpr std::size_t kShown = 5;
  std::string steps;
  for (std::size_t i = 0; i < std::min(frames_.size(), kShown); ++i)
    steps += fmt::format("{}{}", i > 0 ? ", " : "", frames_[i].step);
  throw InputError(
      fmt::format("{}: none of its steps ({}{}) lies in 0..{}: nothing would be compared", path_,
                  steps, frames_.size() > kShown ? ", ..." : "", last));
}

// Both are ascending by id.
void Reference::require_atoms(const Frame& frame, const Sample& sample) const {
  const std::vector<Atom>&theirs = frame.sample.atoms, &mine = sample.atoms;
  if (theirs.size() != mine.size()) {
    throw InputError(fmt::format("{}: step {} has {} atoms, this run has {}", path_, frame.step,
                                 theirs.size(), mine.size()));
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (theirs[i].id == mine[i].id) continue;
    throw InputError(fmt::format("{}: step {} has atom {} where this run has atom {}", path_,
                                 frame.step, theirs[i].id, mine[i].id));
  }
}

bool Reference::has(std::int64_t step) const {
  return std::any_of(frames_.begin(), frames_.end(),
                     [&](const Frame& frame) { return frame.step == step; });
}

Comparison Reference::compare(const Frame& mine) const {
  const auto found = std::find_if(frames_.begin(), frames_.end(),
                                  [&](const Frame& frame) { return frame.step == mine.step; });
  const Sample& theirs = found->sample;
  Comparison c;
  c.step = mine.step;
  for (std::size_t i = 0; i < theirs.atoms.size(); ++i) {
    const Atom &a = mine.sample.atoms[i], &b = theirs.atoms[i];
    for (int d = 0; d < 3; ++d) {
      add(c.position, unwrapped_difference(a, b, theirs.box, d));
      add(c.velocity, a.v[d] - b.v[d]);
      add(c.force, a.f[d] - b.f[d]);
    }
  }
  for (Difference* difference : {&c.position, &c.velocity, &c.force})
    finish(*difference, theirs.atoms.size());
  return c;
}

}  // namespace particles
