#include "files/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "files/text_file.hpp"

namespace particles {
namespace {

using Words = std::vector<std::string>;

// The section that LAMMPS's write_data adds if a pair style is set.
constexpr const char *kPairs = "Pair Coeffs", *kMixedPairs = "PairIJ Coeffs";

// The file has a header of "value keyword" lines, then sections, each a title, a blank line and its
// rows.
class DataFileReader {
 public:
  explicit DataFileReader(const std::string& path) : file_(path) {}

  Sample read() {
    file_.require("the title of a LAMMPS data file");
    std::string title = read_header();
    while (!title.empty()) title = read_section(title);
    check_complete();
    std::sort(sample_.atoms.begin(), sample_.atoms.end(),
              [](const Atom& a, const Atom& b) { return a.id < b.id; });
    return std::move(sample_);
  }

 private:
  // Returns the title of the first section: the first line that does not start with a number.
  std::string read_header() {
    std::string line;
    while (file_.next(line)) {
      const Words words = words_of(line);
      if (words.empty()) continue;
      if (is_title(words)) {
        check_header();
        check_style(words[0], line);
        return title_of(words);
      }
      read_header_line(words);
    }
    check_header();
    file_.fail("the file ends after its header: there is no Atoms section");
  }

  static std::string title_of(const Words& words) {
    return fmt::format("{}", fmt::join(words, " "));
  }

  static bool is_title(const Words& words) {
    return std::isalpha(static_cast<unsigned char>(words[0][0])) != 0;
  }

  void read_header_line(const Words& words) {
    const std::string& keyword = words.back();
    if (words.size() == 2 && keyword == "atoms") {
      count_ = to_integer(file_, words[0], "the number of atoms");
      if (*count_ <= 0) file_.fail("the number of atoms must be positive, not " + words[0]);
    } else if (words.size() == 3 && words[1] == "atom" && keyword == "types") {
      if (to_integer(file_, words[0], "the number of atom types") != 1) {
        file_.fail("this program has one atom type, the file has " + words[0]);
      }
      has_types_ = true;
    } else if (words.size() == 4 && keyword.size() == 3 && keyword.substr(1) == "hi") {
      read_bounds(words);
    } else {
      file_.fail("'... " + keyword + "' is not a header line that this program knows; expected " +
                 "'N atoms', '1 atom types' or 'LO HI xlo xhi'");
    }
  }

  void read_bounds(const Words& words) {
    const int d = words[3][0] - 'x';
    if (d < 0 || d > 2 || words[2] != std::string(1, words[3][0]) + "lo") {
      file_.fail("'" + words[2] + " " + words[3] + "' is not 'xlo xhi', 'ylo yhi' or 'zlo zhi'");
    }
    sample_.box.lo[d] = to_double(file_, words[0], "a lower bound of the box");
    sample_.box.hi[d] = to_double(file_, words[1], "an upper bound of the box");
    if (!(sample_.box.lo[d] < sample_.box.hi[d]))
      file_.fail("the box is empty: its upper bound is not above its lower");
    if (!std::isfinite(sample_.box.length(d)))
      file_.fail("the box is too long: its length is not a finite number");
    has_bounds_[d] = true;
  }

  void check_header() {
    if (!count_) file_.fail("the header does not say how many atoms there are ('N atoms')");
    if (!has_types_) file_.fail("the header lacks the line '1 atom types'");
    for (int d = 0; d < 3; ++d) {
      const char c = static_cast<char>('x' + d);
      if (!has_bounds_[d])
        file_.fail(std::string("the header lacks the line 'LO HI ") + c + "lo " + c + "hi'");
    }
  }

  // LAMMPS writes the atom style after the title: "Atoms # charge" has other columns.
  void check_style(const std::string& title, const std::string& line) const {
    const auto comment = line.find('#');
    if (title != "Atoms" || comment == std::string::npos) return;
    const Words style = words_of(line.substr(comment + 1));
    if (!style.empty() && style[0] != "atomic")
      file_.fail("the atoms are of style " + style[0] + "; this program reads style atomic");
  }

  // Reads the rows of one section; returns the next section's title, empty at the end of the file.
  std::string read_section(const std::string& title) {
    if (title != "Masses" && title != kPairs && title != kMixedPairs && title != "Atoms" &&
        title != "Velocities") {
      file_.fail("section '" + title +
                 "' is not known; expected Masses, Pair Coeffs, Atoms or Velocities");
    }
    std::string line;
    while (file_.next(line)) {
      const Words words = words_of(line);
      if (words.empty()) continue;
      if (is_title(words)) {
        check_style(words[0], line);
        return title_of(words);
      }
      if (title == "Masses") read_mass(words);
      if (title == kPairs) read_pair(words, 1);
      if (title == kMixedPairs) read_pair(words, 2);
      if (title == "Atoms") read_atom(words);
      if (title == "Velocities") read_velocity(words);
    }
    return "";
  }

  void read_mass(const Words& words) {
    if (words.size() != 2) file_.fail("a mass row is 'type mass'");
    if (to_double(file_, words[1], "a mass") != 1.0)
      file_.fail("this program has unit mass, the file says " + words[1]);
  }

  // 'type [type] epsilon sigma', perhaps with a cutoff, which the command line sets here.
  void read_pair(const Words& words, std::size_t types) {
    if (words.size() < types + 2) file_.fail("a row of pair coefficients is 'type epsilon sigma'");
    for (std::size_t i = types; i < types + 2; ++i)
      if (to_double(file_, words[i], "a pair coefficient") != 1.0)
        file_.fail("this program has epsilon and sigma 1, the file says " + words[types] + " and " +
                   words[types + 1]);
  }

  void read_atom(const Words& words) {
    if (words.size() != 5 && words.size() != 8) {
      file_.fail(
          "an atom row is 'id type x y z' with or without 'ix iy iz' (atom style atomic); this one "
          "has " +
          std::to_string(words.size()) + " words");
    }
    if (to_integer(file_, words[1], "an atom type") != 1)
      file_.fail("atom type " + words[1] + " is not 1");
    Atom atom;
    atom.id = to_integer(file_, words[0], "an atom's id");
    for (int d = 0; d < 3; ++d) atom.x[d] = to_double(file_, words[2 + d], "a coordinate");
    for (int d = 0; d < 3 && words.size() == 8; ++d) {
      atom.image[d] = to_int(file_, words[5 + d], "an image count");
    }
    put_in_box(atom);
    if (!where_.emplace(atom.id, sample_.atoms.size()).second)
      file_.fail("atom " + words[0] + " is listed twice");
    sample_.atoms.push_back(atom);
    line_of_.push_back(file_.line_number());
    has_velocity_.push_back(false);
  }

  // An atom on the upper bound belongs to the lower one; an atom beyond the bounds is an error of
  // the file.
  void put_in_box(Atom& atom) const {
    for (int d = 0; d < 3; ++d) {
      const double lo = sample_.box.lo[d], hi = sample_.box.hi[d];
      if (atom.x[d] < lo || atom.x[d] > hi) {
        file_.fail(fmt::format("atom {} lies outside the box: {} = {}, box {} .. {}", atom.id,
                               "xyz"[d], atom.x[d], lo, hi));
      }
      if (atom.x[d] == hi) {
        atom.x[d] = lo;
        ++atom.image[d];
      }
    }
  }

  void read_velocity(const Words& words) {
    if (words.size() != 4) file_.fail("a velocity row is 'id vx vy vz'");
    if (sample_.atoms.empty()) file_.fail("section Velocities stands before section Atoms");
    const auto found = where_.find(to_integer(file_, words[0], "an atom's id"));
    if (found == where_.end())
      file_.fail("a velocity for atom " + words[0] + ", which the Atoms section does not list");
    if (has_velocity_[found->second]) file_.fail("a second velocity for atom " + words[0]);
    for (int d = 0; d < 3; ++d)
      sample_.atoms[found->second].v[d] = to_double(file_, words[1 + d], "a velocity");
    has_velocity_[found->second] = true;
  }

  void check_complete() const {
    if (static_cast<long long>(sample_.atoms.size()) != *count_) {
      file_.fail("the header says " + std::to_string(*count_) + " atoms, the Atoms section lists " +
                 std::to_string(sample_.atoms.size()));
    }
    for (std::size_t i = 0; i < sample_.atoms.size(); ++i) {
      if (has_velocity_[i]) continue;
      file_.fail("atom " + std::to_string(sample_.atoms[i].id) + " of line " +
                 std::to_string(line_of_[i]) + " has no velocity (section Velocities)");
    }
  }

  TextFile file_;
  Sample sample_;
  std::optional<long long> count_;
  bool has_types_ = false;
  bool has_bounds_[3] = {};
  std::unordered_map<long long, std::size_t> where_;  // id -> index in sample_.atoms
  std::vector<int> line_of_;
  std::vector<bool> has_velocity_;
};

}  // namespace

Sample read_data_file(const std::string& path) { return DataFileReader(path).read(); }

}  // namespace particles
