#include "system/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>

#include "common/gnuplot.hpp"

namespace particles {
namespace {

const std::map<std::string, Potential> kPotentials{{"lj", Potential::kLj},
                                                   {"lj-shift", Potential::kLjShift},
                                                   {"lj-force-shift", Potential::kLjForceShift}};
const std::map<std::string, Precision> kPrecisions{{"double", Precision::kDouble},
                                                   {"single", Precision::kSingle}};
const std::map<std::string, HaloMode> kHalos{
    {"device", HaloMode::kDevice}, {"stream", HaloMode::kStream}, {"host", HaloMode::kHost}};

template <class E>
const char* name_in(const std::map<std::string, E>& names, E value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name.c_str();
  }
  return "?";
}

Grid to_grid(const std::string& text) {
  Grid grid{};
  char x1 = 0, x2 = 0;
  std::istringstream stream(text);
  stream >> grid[0] >> x1 >> grid[1] >> x2 >> grid[2];
  const bool is_whole = stream && stream.peek() == std::char_traits<char>::eof();
  if (!is_whole || x1 != 'x' || x2 != 'x' || grid[0] < 1 || grid[1] < 1 || grid[2] < 1) {
    throw CLI::ValidationError("--grid", "'" + text + "' is not like 2x2x1");
  }
  return grid;
}

// Replaces a name by its number, which CLI11 converts.
template <class E>
CLI::Validator one_of(const std::map<std::string, E>& names) {
  return CLI::Validator(
      [&names](std::string& text) -> std::string {
        const auto found = names.find(text);
        if (found != names.end()) {
          text = std::to_string(static_cast<int>(found->second));
          return "";
        }
        std::string list;
        for (const auto& [name, value] : names) list += (list.empty() ? "" : ", ") + name;
        return fmt::format("'{}' is none of {}", text, list);
      },
      "");
}

// CLI11's own bounds are doubles, printed to the last of their 309 digits.
CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::int64_t value = 0;
        const char* const text_end = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), text_end, value);
        if (error == std::errc() && end == text_end && value >= low && value <= high) return "";
        return fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
      },
      fmt::format("{} to {}", low, high));
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str() && *end == '\0' && std::isfinite(value) && value > 0) return "";
        return fmt::format("'{}' is not a finite number above 0", text);
      },
      "above 0");
}

// The name decides what gnuplot draws.
CLI::Validator picture() {
  return CLI::Validator(
      [](std::string& path) -> std::string {
        if (examples::is_picture(path)) return "";
        return fmt::format("'{}' ends in none of {}", path, examples::picture_formats());
      },
      "");
}

constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr int kMostBlocks = 1'000'000;

void describe_system(CLI::App& app, Options& o, std::string& grid) {
  auto* start = app.add_option_group("start", "exactly one is needed");
  start->add_option("--data", o.data,
                    "LAMMPS data file (atom style atomic, with velocities; may be gzipped)");
  auto* const lattice =
      start
          ->add_option("--lattice", o.lattice,
                       "N^3 cells of an fcc crystal, density 0.8442, temperature 1.44")
          ->check(whole_number(1, 1000));
  start->require_option(1);
  app.add_option("--seed", o.seed, "seed of the lattice's velocities")
      ->needs(lattice)
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  app.add_option("--potential", o.potential, "lj | lj-shift | lj-force-shift")
      ->transform(one_of(kPotentials))
      ->default_str("lj");
  app.add_option("--cutoff", o.cutoff, "range of the potential")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--skin", o.skin, "margin of the neighbour lists")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--steps", o.steps, "time steps")
      ->check(whole_number(0, kMostSteps))
      ->capture_default_str();
  app.add_option("--dt", o.dt, "length of a time step")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--grid", grid, "PXxPYxPZ boxes of the PEs (default: least surface)");
}

void describe_run(CLI::App& app, Options& o) {
  app.add_option("--precision", o.precision, "double | single")
      ->transform(one_of(kPrecisions))
      ->default_str("double");
  app.add_option("--halo", o.halo, "what sends the ghosts' positions: device | stream | host")
      ->transform(one_of(kHalos))
      ->default_str("device");
  app.add_option("--blocks", o.blocks, "thread blocks per PE (0: from the device)")
      ->check(whole_number(0, kMostBlocks));
  app.add_option("--threads", o.threads, "threads per block (0: from the device)")
      ->check(whole_number(0, 1024));
}

void describe_output(CLI::App& app, Options& o) {
  app.add_option("--thermo", o.thermo, "print a line every so many steps (0: first and last)")
      ->check(whole_number(0, kMostSteps))
      ->capture_default_str();
  app.add_option("--digits", o.digits, "significant digits of a line")
      ->check(whole_number(1, 17))
      ->capture_default_str();
  auto* const dump =
      app.add_option("--dump", o.dump, "write a LAMMPS dump (id x y z vx vy vz fx fy fz ix iy iz)");
  app.add_option("--dump-every", o.dump_every, "steps between dumps (0: first and last)")
      ->needs(dump)
      ->check(whole_number(0, kMostSteps));
  auto* const validate =
      app.add_option("--validate", o.validate,
                     "compare with a LAMMPS dump at each of its steps; fail beyond the tolerances");
  app.add_option("--position-tolerance", o.position_tolerance,
                 "of --validate (default 1e-12 double, 2e-4 single)")
      ->needs(validate)
      ->check(positive_number());
  app.add_option("--force-tolerance", o.force_tolerance,
                 "of --validate (default 1e-10 double, 0.1 single)")
      ->needs(validate)
      ->check(positive_number());
  app.add_option("--json", o.json, "write the results as JSON");
  app.add_option("--plot", o.plot,
                 "draw energies, temperature and g(r); the name ends in " +
                     examples::picture_formats() + " (needs gnuplot)")
      ->check(picture());
}

// Sets the tolerances that are not given: evidence in README.md, "How well it must agree".
void fill_tolerances(Options& o) {
  const bool is_double = o.precision == Precision::kDouble;
  if (o.position_tolerance == 0) o.position_tolerance = is_double ? 1e-12 : 2e-4;
  if (o.force_tolerance == 0) o.force_tolerance = is_double ? 1e-10 : 0.1;
}

// Among words that were not understood: the first that looks like an option, else the first.
std::string first_option(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (!word.empty() && word.front() == '-') return word;
  }
  return words.front();
}

// The error of the command line, in this program's words.
std::string sentence(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError:
      return "where the atoms come from is said by either --data FILE or --lattice N";
    case CLI::ExitCodes::RequiresError: {  // "--option requires --other"
      const std::string other = text.substr(text.rfind(' ') + 1);
      return fmt::format("{} means nothing without {}", text.substr(0, text.find(' ')), other);
    }
    case CLI::ExitCodes::ExtrasError:
      return fmt::format("'{}' is no option of this program", first_option(app.remaining()));
    case CLI::ExitCodes::ArgumentMismatch:
      return text.substr(0, text.find(':')) + " takes one value, once";
    default:
      return text;  // "--option: 'value' is ...", by the validators above
  }
}

}  // namespace

const char* name_of(Potential potential) { return name_in(kPotentials, potential); }
const char* name_of(Precision precision) { return name_in(kPrecisions, precision); }
const char* name_of(HaloMode halo) { return name_in(kHalos, halo); }

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  CLI::App app(
      "Lennard-Jones molecular dynamics on Chime: kernels exchange their ghost atoms by "
      "themselves");
  std::string grid;
  describe_system(app, parsed.options, grid);
  describe_run(app, parsed.options);
  describe_output(app, parsed.options);
  try {
    app.parse(argc, argv);
    if (!grid.empty()) parsed.options.grid = to_grid(grid);
    fill_tolerances(parsed.options);
  } catch (const CLI::ParseError& error) {
    parsed.must_exit = true;
    if (error.get_exit_code() == 0) {
      parsed.text = app.help();
    } else {
      parsed.exit_code = kExitWrongInput;
      parsed.text = fmt::format("particles: {}; --help lists all options\n", sentence(app, error));
    }
  }
  return parsed;
}

}  // namespace particles
