#include "run/simulation.hpp"

#include <algorithm>
#include <chrono>

#include "files/progress.hpp"
#include "kernels/staged.cuh"
#include "run/rebuild.hpp"
#include "run/staged_halo.hpp"
#include "system/domain.hpp"
#include "system/shape.hpp"

namespace particles {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Totals totals_of(std::int64_t step, const double (&sums)[2 * kSums]) {
  const auto value = [&](int q) { return sums[2 * q] + sums[2 * q + 1]; };
  return {.step = step,
          .kinetic2 = value(kKinetic2),
          .potential = value(kPotential),
          .virial = value(kVirial),
          .momentum = {value(kMomentumX), value(kMomentumY), value(kMomentumZ)},
          .atoms = value(kAtoms)};
}

// PE 0's view of the other PEs, when it collects atoms and costs.
struct Ledger {
  std::int64_t own;
  std::int64_t halo_bytes;
};

template <class Real>
class PeSimulation final : public Simulation {
 public:
  PeSimulation(const Options& options, const Sample& sample, const Domain& domain,
               const Crowd& crowd)
      : options_(options),
        domain_(domain),
        launcher_(choose_shape(options, crowd.own)),
        memory_(options, domain, capacity_for(crowd), launcher_.shape(), chime_n_pes()),
        rebuilder_(memory_, launcher_),
        result_(1),
        ledger_(1) {
    load_atoms(memory_, sample, domain_);
    // Atoms are still in the host's order, unsorted; from here on peers' words are zero on every
    // PE.
    chime_barrier_all();
  }

  Totals run_to(std::int64_t step) override {
    const auto start = Clock::now();
    ++outputs_;
    if (entry_ == Entry::kStart) rebuild(0);
    const Totals totals =
        options_.halo == HaloMode::kDevice ? run_on_device(step) : run_staged(step);
    entry_ = Entry::kContinue;
    step_ = step;
    costs_.seconds += seconds_since(start);
    return totals;
  }

  Sample collect() override;
  Costs costs() override;

 private:
  void rebuild(std::int64_t step);
  void count_exchange(std::uint64_t exchanges);

  Totals run_on_device(std::int64_t stop);
  StepsResult launch_steps(const StepsArguments& arguments);

  Totals run_staged(std::int64_t stop);
  void staged_forces(std::int64_t step, bool kick, bool is_output);
  bool staged_move_to(std::int64_t step);

  Totals read_totals(std::int64_t step) const;
  std::vector<Ledger> gather_ledgers();
  template <class T>
  void fetch(std::vector<T>& to, const T* from, std::size_t count, int pe) const;
  void append_atoms_of(int pe, std::size_t count, std::vector<Atom>& atoms) const;

  const Options options_;
  const Domain domain_;
  const Launcher launcher_;
  Memory<Real> memory_;
  Rebuilder<Real> rebuilder_;
  DeviceArray<StepsResult> result_;
  SymmetricArray<Ledger> ledger_;
  std::vector<Real> staging_;

  Entry entry_ = Entry::kStart;
  std::int64_t step_ = 0;
  std::uint64_t exchange_ = 0;
  std::int64_t outputs_ = 0;
  Costs costs_;
};

template <class Real>
void PeSimulation<Real>::rebuild(std::int64_t step) {
  const auto start = Clock::now();
  rebuilder_.run(step, ++exchange_);
  count_exchange(1);
  ++costs_.rebuilds;
  costs_.rebuild_seconds += seconds_since(start);
}

template <class Real>
void PeSimulation<Real>::count_exchange(std::uint64_t exchanges) {
  const View<Real>& view = memory_.view;
  std::int64_t bytes = 0;
  for (int d = 0; d < kDirections; ++d) {
    if (view.neighbour[d] != view.pe)
      bytes += (view.send_start[d + 1] - view.send_start[d]) * 3 * sizeof(Real);
  }
  costs_.exchanges += static_cast<std::int64_t>(exchanges);
  costs_.halo_bytes += bytes * static_cast<std::int64_t>(exchanges);
}

template <class Real>
Totals PeSimulation<Real>::read_totals(std::int64_t step) const {
  double sums[2 * kSums];
  download(sums, memory_.view.partial, 2 * kSums);
  return totals_of(step, sums);
}

// ---- The device runs the steps ------------------------------------------------------------------

template <class Real>
Totals PeSimulation<Real>::run_on_device(std::int64_t stop) {
  std::int64_t step = step_;
  Phase phase("running", options_.steps, "steps");
  for (;;) {
    phase.at(step);
    const StepsResult result = launch_steps({step, stop, entry_, exchange_});
    count_exchange(result.exchange - exchange_);
    exchange_ = result.exchange;
    step = result.step;
    if (result.reason == Reason::kOutput) return read_totals(step);
    rebuild(step);
    entry_ = Entry::kRebuilt;
  }
}

template <class Real>
StepsResult PeSimulation<Real>::launch_steps(const StepsArguments& arguments) {
  launcher_.with_lanes([&](auto lanes) {
    const auto kernel = options_.potential == Potential::kLjForceShift
                            ? run_steps<lanes(), true, Real>
                            : run_steps<lanes(), false, Real>;
    launcher_.grid(kernel, memory_.view, arguments, result_.data());
  });
  StepsResult result;
  download(&result, result_.data(), 1);
  return result;
}

// ---- The host drives each step ------------------------------------------------------------------

template <class Real>
Totals PeSimulation<Real>::run_staged(std::int64_t stop) {
  std::int64_t step = step_;
  if (entry_ == Entry::kStart) staged_forces(step, false, step == stop);
  Phase phase("running", options_.steps, "steps");
  while (step < stop) {
    phase.at(step);
    ++step;
    if (!staged_move_to(step)) rebuild(step);
    staged_forces(step, true, step == stop);
  }
  launcher_.with_lanes([&](auto lanes) { launcher_.grid(sum_step<lanes(), Real>, memory_.view); });
  return read_totals(step);
}

template <class Real>
void PeSimulation<Real>::staged_forces(std::int64_t step, bool kick, bool is_output) {
  launcher_.with_lanes([&](auto lanes) {
    const auto kernel = options_.potential == Potential::kLjForceShift
                            ? force_step<lanes(), true, Real>
                            : force_step<lanes(), false, Real>;
    launcher_.grid(kernel, memory_.view, step, kick, is_output);
  });
}

// The staged form of move_to_step (kernels/steps.cuh).
template <class Real>
bool PeSimulation<Real>::staged_move_to(std::int64_t step) {
  const int parity = static_cast<int>(step & 1);
  launcher_.with_lanes(
      [&](auto lanes) { launcher_.grid(drift_step<lanes(), Real>, memory_.view, step); });
  ++exchange_;
  count_exchange(1);
  if (options_.halo == HaloMode::kStream) {
    exchange_on_stream(memory_, launcher_, parity, exchange_);
  } else {
    exchange_on_host(memory_, launcher_, parity, exchange_, staging_);
  }
  launcher_.grid(agree_step<Real>, memory_.view, step);
  std::int32_t decision = 0;
  download(&decision, memory_.view.decision, 1);
  return decision == 0;
}

// ---- Output -------------------------------------------------------------------------------------

// Afterwards PE 0 has every PE's ledger; all PEs wait at the same step until release_pes().
template <class Real>
std::vector<Ledger> PeSimulation<Real>::gather_ledgers() {
  const Ledger mine{memory_.view.own, costs_.halo_bytes};
  upload(ledger_.data(), &mine, 1);
  chime_barrier_all();
  std::vector<Ledger> ledgers(memory_.view.pes);
  if (memory_.view.pe != 0) return {};
  for (int pe = 0; pe < memory_.view.pes; ++pe)
    chime_getmem(&ledgers[pe], ledger_.data(), sizeof(Ledger), pe);
  return ledgers;
}

template <class Real>
template <class T>
void PeSimulation<Real>::fetch(std::vector<T>& to, const T* from, std::size_t count, int pe) const {
  to.resize(count);
  chime_getmem(to.data(), from, count * sizeof(T), pe);
}

template <class Real>
void PeSimulation<Real>::append_atoms_of(int pe, std::size_t count,
                                         std::vector<Atom>& atoms) const {
  const View<Real>& view = memory_.view;
  const std::size_t first = atoms.size();
  std::vector<std::int64_t> id;
  std::vector<Real> value;
  std::vector<std::int32_t> image;
  atoms.resize(first + count);
  fetch(id, view.id, count, pe);
  for (std::size_t i = 0; i < count; ++i) atoms[first + i].id = id[i];
  for (int d = 0; d < 3; ++d) {
    fetch(value, view.x[step_ & 1][d], count, pe);
    for (std::size_t i = 0; i < count; ++i) atoms[first + i].x[d] = value[i];
    fetch(value, view.v[d], count, pe);
    for (std::size_t i = 0; i < count; ++i) atoms[first + i].v[d] = value[i];
    fetch(value, view.f[d], count, pe);
    for (std::size_t i = 0; i < count; ++i) atoms[first + i].f[d] = value[i];
    fetch(image, view.image[d], count, pe);
    for (std::size_t i = 0; i < count; ++i) atoms[first + i].image[d] = image[i];
  }
}

template <class Real>
Sample PeSimulation<Real>::collect() {
  const std::vector<Ledger> ledgers = gather_ledgers();
  Sample sample{.box = domain_.box, .atoms = {}};
  Phase phase("collecting the atoms", static_cast<std::int64_t>(ledgers.size()), "PEs");
  for (std::size_t pe = 0; pe < ledgers.size(); ++pe) {
    phase.at(static_cast<std::int64_t>(pe));
    append_atoms_of(static_cast<int>(pe), static_cast<std::size_t>(ledgers[pe].own), sample.atoms);
  }
  chime_barrier_all();  // PE 0 has read what the other PEs now change
  std::sort(sample.atoms.begin(), sample.atoms.end(),
            [](const Atom& a, const Atom& b) { return a.id < b.id; });
  return sample;
}

template <class Real>
Costs PeSimulation<Real>::costs() {
  const std::vector<Ledger> ledgers = gather_ledgers();
  Costs costs = costs_;
  costs.outputs = outputs_;
  costs.halo_bytes = 0;
  for (const Ledger& ledger : ledgers) costs.halo_bytes += ledger.halo_bytes;
  for (int d = 0; d < kDirections; ++d) {
    if (d != kHome)
      costs.stored_directions +=
          chime_ptr(memory_.view.board, memory_.view.neighbour[d]) != nullptr;
  }
  chime_barrier_all();
  return costs;
}

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options, const Sample& sample,
                                            const Grid& grid) {
  const Domain domain = make_domain(sample.box, grid, chime_my_pe());
  const Crowd crowd = count_crowd(sample, grid, options.reach());
  Phase phase("making room for the atoms");
  if (options.precision == Precision::kDouble) {
    return std::make_unique<PeSimulation<double>>(options, sample, domain, crowd);
  }
  return std::make_unique<PeSimulation<float>>(options, sample, domain, crowd);
}

}  // namespace particles
