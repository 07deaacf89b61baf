// Lennard-Jones molecular dynamics: README.md says what it shows and how to read it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "chime/chime.h"
#include "common/gnuplot.hpp"
#include "files/data_file.hpp"
#include "files/plot.hpp"
#include "files/progress.hpp"
#include "files/report.hpp"
#include "run/overlap.hpp"
#include "system/lattice.hpp"

namespace particles {
namespace {

Sample load_sample(const Options& options) {
  if (options.data.empty()) return make_lattice(options.lattice, options.seed);
  Sample sample = read_data_file(options.data);
  require_apart(sample, options.data);
  return sample;
}

bool is_due(std::int64_t step, std::int64_t every, std::int64_t last) {
  return step == 0 || step == last || (every > 0 && step % every == 0);
}

// One run. PE 0 prints its report; the other PEs take part silently.
class Run {
 public:
  explicit Run(const Options& options) : options_(options), is_teller_(chime_my_pe() == 0) {}

  // True if everything that was validated agrees.
  bool operator()() {
    const Sample sample = load_sample(options_);
    check_sample(sample);
    open_outputs(sample);
    results_.atoms = sample.atoms.size();
    results_.pes = chime_n_pes();
    results_.box = sample.box;
    results_.grid = choose_grid(sample.box, results_.pes, options_.reach(), options_.grid);
    const auto simulation = make_simulation(options_, sample, results_.grid);
    tell(opening(options_, results_) + "\n" + thermo_header(options_.digits));
    visit(*simulation, 0);
    for (std::int64_t step = 0; step < options_.steps;) visit(*simulation, step = stop_after(step));
    results_.costs = simulation->costs();
    finish(*simulation);
    return agrees(options_, results_.comparisons);
  }

 private:
  static void check_sample(const Sample& sample) {
    if (sample.atoms.size() >= 2) return;
    throw InputError(fmt::format("{} atom: a temperature needs at least 2", sample.atoms.size()));
  }

  // Every PE reads the reference, because all must stop at its steps. Files that cannot be written
  // are found before the run.
  void open_outputs(const Sample& sample) {
    if (!options_.validate.empty()) {
      reference_.emplace(options_.validate);
      reference_->require_use(sample, options_.steps);
    }
    if (!is_teller_) return;
    if (!options_.dump.empty()) dump_.emplace(options_.dump);
    if (!options_.json.empty()) examples::require_writable(options_.json);
    if (options_.plot.empty()) return;
    examples::require_gnuplot(options_.plot);
    examples::require_writable(options_.plot);
  }

  // The next step at which something is printed, dumped or compared.
  std::int64_t stop_after(std::int64_t step) const {
    std::int64_t next = options_.steps;
    const auto stop_every = [&](std::int64_t every) {
      if (every > 0) next = std::min(next, (step / every + 1) * every);
    };
    stop_every(options_.thermo);
    if (!options_.dump.empty()) stop_every(options_.dump_every);
    if (!reference_) return next;
    for (const Frame& frame : reference_->frames()) {
      if (frame.step > step) next = std::min(next, frame.step);
    }
    return next;
  }

  void visit(Simulation& simulation, std::int64_t step) {
    const Totals totals = simulation.run_to(step);
    if (is_teller_) check_totals(totals);
    for (double p : totals.momentum) {
      results_.largest_momentum = std::max(results_.largest_momentum, std::abs(p));
    }
    if (is_teller_ && is_due(step, options_.thermo, options_.steps)) {
      const Thermo thermo = thermo_of(totals, results_.box);
      tell(thermo_line(thermo, options_.digits));
      if (keeps_lines()) results_.thermo.push_back(thermo);
    }
    const bool is_dumped =
        !options_.dump.empty() && is_due(step, options_.dump_every, options_.steps);
    const bool is_compared = reference_ && reference_->has(step);
    if (!is_dumped && !is_compared) return;
    const Frame frame{.step = step, .sample = simulation.collect()};
    if (!is_teller_) return;
    if (is_dumped) dump_->write(frame);
    if (is_compared) {
      results_.comparisons.push_back(reference_->compare(frame));
      tell(comparison_line(results_.comparisons.back()));
    }
  }

  // Long runs print more lines than memory needs to keep.
  bool keeps_lines() const { return !options_.json.empty() || !options_.plot.empty(); }

  void check_totals(const Totals& totals) const {
    if (!is_finite(totals)) {
      throw std::runtime_error(fmt::format(
          "step {}: energy or momentum is not a finite number: atoms lie on each other, "
          "or the system has come apart; look at the data file, or use a smaller --dt",
          totals.step));
    }
    if (totals.atoms == static_cast<double>(results_.atoms)) return;
    throw std::runtime_error(fmt::format("step {}: the PEs own {} atoms in all, there should be {}",
                                         totals.step, totals.atoms, results_.atoms));
  }

  void finish(Simulation& simulation) {
    std::optional<Sample> last;
    if (!options_.plot.empty()) last = simulation.collect();
    if (!is_teller_) return;
    tell(closing(options_, results_));
    if (!options_.json.empty()) write_json(options_, results_);
    if (last) draw_picture(*last);
    if (!agrees(options_, results_.comparisons)) {
      fmt::print(stderr,
                 "particles: differs from {} by more than {:g} in position or {:g} in force\n",
                 options_.validate, options_.position_tolerance, options_.force_tolerance);
    }
  }

  void draw_picture(const Sample& last) const {
    draw(options_.plot, {.title = title(options_, results_),
                         .lines = results_.thermo,
                         .dt = options_.dt,
                         .pairs = pair_distribution(last, 4.0, 0.02)});
  }

  void tell(const std::string& text) const {
    if (!is_teller_) return;
    fmt::print("{}\n", text);
    std::fflush(stdout);
    note_told();
  }

  const Options options_;
  const bool is_teller_;
  Results results_;
  std::optional<Reference> reference_;
  std::optional<DumpWriter> dump_;
};

}  // namespace
}  // namespace particles

int main(int argc, char** argv) {
  const particles::Parsed parsed = particles::parse_options(argc, argv);
  chime_init();
  const bool is_teller = chime_my_pe() == 0;
  int exit_code = parsed.exit_code;
  try {
    if (parsed.must_exit) {
      if (is_teller) fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    } else {
      std::optional<particles::Teller> teller;
      if (is_teller) teller.emplace();
      exit_code = particles::Run(parsed.options)() ? 0 : 1;
    }
  } catch (const particles::InputError& error) {
    // Every PE finds the same mistake; PE 0 reports it before any of them ends.
    if (is_teller) fmt::print(stderr, "particles: {}\n", error.what());
    exit_code = particles::kExitWrongInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "particles: {}\n", error.what());
    chime_global_exit(1);
  }
  chime_finalize();
  return exit_code;
}
