// The options of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "system/domain.hpp"

namespace particles {

enum class Potential { kLj, kLjShift, kLjForceShift };
enum class Precision { kDouble, kSingle };

// The code that moves the ghosts' positions in each step.
enum class HaloMode {
  kDevice,  // the kernel that also computes: it stores or puts into the peers' memory and signals
  kStream,  // kernels pack, on-stream put_signal sends
  kHost     // the staged baseline: copy to the host, put and signal there, copy back
};

struct Options {
  std::string data;  // --data, or else
  int lattice = 0;   // --lattice
  std::uint64_t seed = 87287;
  std::int64_t steps = 100;
  double dt = 0.005;
  double cutoff = 2.5;
  double skin = 0.3;
  std::int64_t thermo = 10;  // a line every so many steps; 0: first and last step only
  Potential potential = Potential::kLj;
  Precision precision = Precision::kDouble;
  HaloMode halo = HaloMode::kDevice;
  std::optional<Grid> grid;
  std::string dump;
  std::int64_t dump_every = 0;  // 0: first and last step only
  std::string validate;
  double position_tolerance = 0;  // 0: by precision
  double force_tolerance = 0;
  std::string json;
  std::string plot;
  int digits = 15;
  int blocks = 0;  // 0: chosen from the device
  int threads = 0;

  double reach() const { return cutoff + skin; }
};

const char* name_of(Potential potential);
const char* name_of(Precision precision);
const char* name_of(HaloMode halo);

// The exit status for input that the program cannot use.
inline constexpr int kExitWrongInput = 2;

// The next action of main().
struct Parsed {
  Options options;
  int exit_code = 0;
  std::string text;  // help, version or error for the user; empty when there is nothing to say
  bool must_exit = false;
};

Parsed parse_options(int argc, char** argv);

}  // namespace particles
