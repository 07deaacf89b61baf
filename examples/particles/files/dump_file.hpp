// LAMMPS text dumps with the columns id x y z vx vy vz fx fy fz ix iy iz: what --dump writes and
// --validate reads.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "system/sample.hpp"

namespace particles {

// One time step of a dump; atoms ascending by id.
struct Frame {
  std::int64_t step = 0;
  Sample sample;
};

// Reads a whole dump, plain or gzipped. Throws InputError that names file and line.
std::vector<Frame> read_dump_file(const std::string& path);

class DumpWriter {
 public:
  // Throws std::runtime_error if the file cannot be written.
  explicit DumpWriter(const std::string& path);
  void write(const Frame& frame);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace particles
