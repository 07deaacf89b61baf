#include "files/dump_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>

#include "files/progress.hpp"
#include "files/text_file.hpp"

namespace particles {
namespace {

constexpr const char* kColumns = "id x y z vx vy vz fx fy fz ix iy iz";

void require_item(TextFile& file, const std::string& item) {
  const std::string line = file.require("'ITEM: " + item + "'");
  if (line.rfind("ITEM: " + item, 0) != 0)
    file.fail("expected 'ITEM: " + item + "', found '" + line + "'");
}

Box read_box(TextFile& file) {
  require_item(file, "BOX BOUNDS pp pp pp");
  Box box;
  for (int d = 0; d < 3; ++d) {
    const auto words = words_of(file.require("the bounds of the box"));
    if (words.size() != 2) file.fail("a line of box bounds has two numbers");
    box.lo[d] = to_double(file, words[0], "a lower bound");
    box.hi[d] = to_double(file, words[1], "an upper bound");
    if (!std::isfinite(box.length(d)))
      file.fail("the box is too long: its length is not a finite number");
  }
  return box;
}

Atom read_row(TextFile& file) {
  const auto words = words_of(file.require("an atom's row"));
  if (words.size() != 13) file.fail(std::string("an atom's row has the 13 columns ") + kColumns);
  Atom atom;
  atom.id = to_integer(file, words[0], "an atom's id");
  for (int d = 0; d < 3; ++d) {
    atom.x[d] = to_double(file, words[1 + d], "a coordinate");
    atom.v[d] = to_double(file, words[4 + d], "a velocity");
    atom.f[d] = to_double(file, words[7 + d], "a force");
    atom.image[d] = to_int(file, words[10 + d], "an image count");
  }
  return atom;
}

// The frame that starts after its first line, "ITEM: TIMESTEP", has been read.
Frame read_frame(TextFile& file) {
  Frame frame;
  frame.step = to_integer(file, file.require("the time step"), "a time step");
  require_item(file, "NUMBER OF ATOMS");
  const long long count =
      to_integer(file, file.require("the number of atoms"), "the number of atoms");
  frame.sample.box = read_box(file);
  require_item(file, std::string("ATOMS ") + kColumns);
  for (long long i = 0; i < count; ++i) frame.sample.atoms.push_back(read_row(file));
  std::sort(frame.sample.atoms.begin(), frame.sample.atoms.end(),
            [](const Atom& a, const Atom& b) { return a.id < b.id; });
  return frame;
}

}  // namespace

std::vector<Frame> read_dump_file(const std::string& path) {
  TextFile file(path);
  std::vector<Frame> frames;
  std::string line;
  while (file.next(line)) {
    if (line.empty()) continue;
    if (line != "ITEM: TIMESTEP") file.fail("expected 'ITEM: TIMESTEP', found '" + line + "'");
    frames.push_back(read_frame(file));
  }
  if (frames.empty()) throw InputError(path + ": holds no time step");
  return frames;
}

DumpWriter::DumpWriter(const std::string& path) : path_(path), file_(path) {
  if (!file_) throw std::runtime_error(path + ": cannot be written: " + std::strerror(errno));
}

void DumpWriter::write(const Frame& frame) {
  Phase phase("writing " + path_, static_cast<std::int64_t>(frame.sample.atoms.size()), "atoms");
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS pp pp pp\n",
                 frame.step, frame.sample.atoms.size());
  for (int d = 0; d < 3; ++d) {
    fmt::format_to(out, "{:.16e} {:.16e}\n", frame.sample.box.lo[d], frame.sample.box.hi[d]);
  }
  fmt::format_to(out, "ITEM: ATOMS {}\n", kColumns);
  for (const Atom& a : frame.sample.atoms) {
    phase.at(&a - frame.sample.atoms.data());
    fmt::format_to(
        out,
        "{} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {} {} {}\n",
        a.id, a.x[0], a.x[1], a.x[2], a.v[0], a.v[1], a.v[2], a.f[0], a.f[1], a.f[2], a.image[0],
        a.image[1], a.image[2]);
  }
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  file_.flush();
  if (!file_) throw std::runtime_error(path_ + ": writing failed: " + std::strerror(errno));
}

}  // namespace particles
