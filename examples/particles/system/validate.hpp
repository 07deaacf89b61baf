// Compares the run with a reference dump at every step that the reference has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/dump_file.hpp"

namespace particles {

// Largest component and root mean square over all atoms of the difference in unwrapped position,
// velocity, force.
struct Difference {
  double max = 0;
  double rms = 0;
};
struct Comparison {
  std::int64_t step = 0;
  Difference position, velocity, force;
};

class Reference {
 public:
  // Throws InputError if the file is not a dump.
  explicit Reference(const std::string& path);

  // Throws InputError unless it has a step in 0..last, and the sample's atoms at each of those.
  void require_use(const Sample& sample, std::int64_t last) const;

  bool has(std::int64_t step) const;
  const std::vector<Frame>& frames() const { return frames_; }

  // REQUIRES: has(mine.step), require_use().
  Comparison compare(const Frame& mine) const;

 private:
  void require_atoms(const Frame& frame, const Sample& sample) const;

  std::string path_;
  std::vector<Frame> frames_;
};

}  // namespace particles
