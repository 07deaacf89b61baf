#include "files/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace particles {
namespace {

// Figures that follow from costs.
struct Speed {
  double steps_per_second = 0;
  double atom_steps_per_second = 0;
  double ms_per_step = 0;
  double bytes_per_exchange = 0;
};

Speed speed_of(const Options& options, const Results& r) {
  const double steps = static_cast<double>(options.steps),
               seconds = std::max(r.costs.seconds, 1e-9);
  return {.steps_per_second = steps / seconds,
          .atom_steps_per_second = steps * static_cast<double>(r.atoms) / seconds,
          .ms_per_step = options.steps > 0 ? seconds / steps * 1e3 : 0,
          .bytes_per_exchange = r.costs.exchanges > 0 ? static_cast<double>(r.costs.halo_bytes) /
                                                            static_cast<double>(r.costs.exchanges)
                                                      : 0};
}

// In the device mode the host waits when the step loop leaves the device; otherwise in each step.
std::int64_t host_syncs(const Options& options, const Costs& costs) {
  const std::int64_t stops = costs.rebuilds + costs.outputs;
  return options.halo == HaloMode::kDevice ? stops : stops + options.steps;
}

std::string path_of(const Options& options, const Costs& costs) {
  if (options.halo == HaloMode::kHost) return "packed on the device, staged through the host";
  if (options.halo == HaloMode::kStream) return "packed on the device, put_signal on the stream";
  if (costs.stored_directions == kDirections - 1)
    return "stored into mapped neighbours by the computing kernel";
  return fmt::format(
      "by the computing kernel: stored in {} of 26 directions (mapped neighbours and this PE "
      "itself), put_signal in the others",
      costs.stored_directions);
}

nlohmann::json json_of(const Difference& d) { return {{"max", d.max}, {"rms", d.rms}}; }

nlohmann::json json_of(const Options& options, const Results& r) {
  const Speed speed = speed_of(options, r);
  nlohmann::json json{{"program", "particles"},
                      {"atoms", r.atoms},
                      {"pes", r.pes},
                      {"grid", r.grid},
                      {"steps", options.steps},
                      {"dt", options.dt},
                      {"cutoff", options.cutoff},
                      {"skin", options.skin},
                      {"potential", name_of(options.potential)},
                      {"precision", name_of(options.precision)},
                      {"halo", name_of(options.halo)},
                      {"seconds", r.costs.seconds},
                      {"rebuild_seconds", r.costs.rebuild_seconds},
                      {"ms_per_step", speed.ms_per_step},
                      {"atom_steps_per_second", speed.atom_steps_per_second},
                      {"halo_bytes_per_step", speed.bytes_per_exchange},
                      {"halo_bytes", r.costs.halo_bytes},
                      {"rebuilds", r.costs.rebuilds},
                      {"outputs", r.costs.outputs},
                      {"host_syncs", host_syncs(options, r.costs)},
                      {"largest_momentum", r.largest_momentum},
                      {"path", path_of(options, r.costs)},
                      {"position_tolerance", options.position_tolerance},
                      {"force_tolerance", options.force_tolerance},
                      {"thermo", nlohmann::json::array()},
                      {"validate", nlohmann::json::array()}};
  for (const Thermo& t : r.thermo) {
    json["thermo"].push_back({{"step", t.step},
                              {"temperature", t.temperature},
                              {"pair_energy", t.pair_energy},
                              {"total_energy", t.total_energy},
                              {"pressure", t.pressure}});
  }
  for (const Comparison& c : r.comparisons) {
    json["validate"].push_back({{"step", c.step},
                                {"position", json_of(c.position)},
                                {"velocity", json_of(c.velocity)},
                                {"force", json_of(c.force)}});
  }
  return json;
}

}  // namespace

std::string title(const Options& options, const Results& r) {
  return fmt::format("{} atoms on {} PE{}, potential {}, cutoff {} σ, time step {} τ", r.atoms,
                     r.pes, r.pes == 1 ? "" : "s", name_of(options.potential), options.cutoff,
                     options.dt);
}

std::string opening(const Options& options, const Results& r) {
  return fmt::format(
      "# {} atoms in {:.6g} x {:.6g} x {:.6g}, {} PE{} as {}x{}x{}, {}, cutoff {} + skin {}, {} "
      "precision, halo {}",
      r.atoms, r.box.length(0), r.box.length(1), r.box.length(2), r.pes, r.pes == 1 ? "" : "s",
      r.grid[0], r.grid[1], r.grid[2], name_of(options.potential), options.cutoff, options.skin,
      name_of(options.precision), name_of(options.halo));
}

std::string comparison_line(const Comparison& c) {
  return fmt::format(
      "# step {}: max and rms difference: x {:.2e} {:.2e}  v {:.2e} {:.2e}  f {:.2e} {:.2e}",
      c.step, c.position.max, c.position.rms, c.velocity.max, c.velocity.rms, c.force.max,
      c.force.rms);
}

std::string closing(const Options& options, const Results& r) {
  const Speed speed = speed_of(options, r);
  const std::int64_t syncs = host_syncs(options, r.costs);
  std::string text = fmt::format(
      "# {:.4g} M atom-steps/s, {:.4g} ms per step, {} steps in {:.4g} s ({:.0f} % of it in "
      "rebuilds)\n",
      speed.atom_steps_per_second / 1e6, speed.ms_per_step, options.steps, r.costs.seconds,
      100 * r.costs.rebuild_seconds / std::max(r.costs.seconds, 1e-9));
  text += fmt::format("# halo: {:.4g} kB per step between PEs; {}\n",
                      speed.bytes_per_exchange / 1e3, path_of(options, r.costs));
  text += fmt::format(
      "# host syncs: {} = {} rebuilds + {} outputs{}: so often the host waited for the device, "
      "which did all else by itself",
      syncs, r.costs.rebuilds, r.costs.outputs,
      syncs == r.costs.rebuilds + r.costs.outputs ? "" : fmt::format(" + {} steps", options.steps));
  return text;
}

bool agrees(const Options& options, const std::vector<Comparison>& comparisons) {
  return std::all_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
    return c.position.max <= options.position_tolerance && c.force.max <= options.force_tolerance;
  });
}

void write_json(const Options& options, const Results& results) {
  std::ofstream file(options.json);
  file << json_of(options, results).dump(2) << '\n';
  file.flush();
  if (!file)
    throw std::runtime_error(options.json + ": cannot be written: " + std::strerror(errno));
}

}  // namespace particles
