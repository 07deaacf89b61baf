// One PE's simulation: owns its part of the system and advances it together with the other PEs.
#pragma once

#include <memory>
#include <optional>

#include "system/options.hpp"
#include "system/sample.hpp"
#include "system/thermo.hpp"

namespace particles {

// The costs of the run; sums over PEs where noted. Complete on PE 0.
struct Costs {
  std::int64_t rebuilds = 0;
  std::int64_t outputs = 0;
  std::int64_t exchanges = 0;
  std::int64_t halo_bytes = 0;  // all PEs; between different PEs
  double seconds = 0;           // this PE, in steps and rebuilds
  double rebuild_seconds = 0;
  int stored_directions = 0;  // of 26: towards mapped neighbours and the PE itself
};

class Simulation {
 public:
  virtual ~Simulation() = default;

  // Collective. Advances to `step` (0 the first time) and returns the sums over all atoms there; on
  // PE 0.
  virtual Totals run_to(std::int64_t step) = 0;

  // Collective. All atoms, ascending by id; on PE 0.
  virtual Sample collect() = 0;

  // Collective.
  virtual Costs costs() = 0;
};

// Collective. Throws InputError if the PEs' subdomains are too small.
std::unique_ptr<Simulation> make_simulation(const Options& options, const Sample& sample,
                                            const Grid& grid);

}  // namespace particles
