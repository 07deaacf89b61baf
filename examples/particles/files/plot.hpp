// The picture of a run: energies and temperature over time, and g(r) at the end, in Lennard-Jones
// units. Drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "files/pair_distribution.hpp"
#include "system/thermo.hpp"

namespace particles {

struct PictureFormat {
  const char* extension;
  const char* terminal;  // of gnuplot, with the picture's size
};

// By the end of the file's name, in small or capital letters; null if it is none of
// picture_formats().
const PictureFormat* picture_format(const std::string& path);
std::string picture_formats();  // ".png, .pdf, .svg"

struct Picture {
  std::string title;
  std::vector<Thermo> lines;
  double dt = 0;  // from steps to time, in tau
  PairDistribution pairs;
};

// Throws std::runtime_error that names what is missing if gnuplot cannot be run, or not draw this
// format. REQUIRES: picture_format(path).
void require_gnuplot(const std::string& path);
void draw(const std::string& path, const Picture& picture);

}  // namespace particles
