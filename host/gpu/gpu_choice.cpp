#include "host/gpu/gpu_choice.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace chime::host {
namespace {

struct Wish {
  std::size_t n_seen;
  std::size_t shared;
  std::size_t pe;
  std::size_t index;
};

bool comes_first(const Wish& a, const Wish& b) {
  return std::tuple(a.n_seen, b.shared, a.pe, a.index) <
         std::tuple(b.n_seen, a.shared, b.pe, b.index);
}

std::vector<Wish> wishes_of(std::span<const SeenGpus> node) {
  std::vector<Wish> wishes;
  for (std::size_t pe = 0; pe < node.size(); ++pe)
    for (std::size_t i = 0; i < node[pe].size(); ++i)
      wishes.push_back({node[pe].size(), node[pe][i].shared, pe, i});
  std::sort(wishes.begin(), wishes.end(), comes_first);
  return wishes;
}

std::string all_of(std::size_t n_pes) {
  return n_pes == 1 ? "this PE is alone on its node"
                    : "the node's " + std::to_string(n_pes) + " PEs take them in turn";
}

}  // namespace

SeenGpus seen_from(const cpu_set_t& processors, std::span<const std::string> addresses,
                   const topology::Machine& machine) {
  const topology::Place here = topology::place_of(processors, machine);
  SeenGpus seen;
  for (const std::string& address : addresses) {
    const topology::Place gpu = topology::place_of(address, machine);
    seen.push_back(
        {address, topology::shared_parts(here, gpu), topology::smallest_shared_part(here, gpu)});
  }
  return seen;
}

std::string text_of(const SeenGpus& seen) {
  std::string text = "GPUs\n";
  for (const SeenGpu& gpu : seen) text += gpu.address + ' ' + std::to_string(gpu.shared) + '\n';
  return text;
}

SeenGpus seen_gpus_of(const std::string& text) {
  SeenGpus seen;
  std::istringstream lines(text);
  lines.ignore(text.size(), '\n');
  for (SeenGpu gpu; lines >> gpu.address >> gpu.shared;) seen.push_back(gpu);
  return seen;
}

std::vector<std::size_t> spread_over_gpus(std::span<const SeenGpus> node) {
  std::vector<Wish> wishes = wishes_of(node);
  std::vector<std::size_t> taken(node.size(), 0);
  while (!wishes.empty()) {
    std::set<std::string> given;  // in this round
    std::set<std::size_t> served;
    for (const Wish& wish : wishes) {
      if (served.contains(wish.pe) || !given.insert(node[wish.pe][wish.index].address).second)
        continue;
      taken[wish.pe] = wish.index;
      served.insert(wish.pe);
    }
    std::erase_if(wishes, [&](const Wish& wish) { return served.contains(wish.pe); });
  }
  return taken;
}

std::string why_this_gpu(const SeenGpus& seen, std::size_t index, std::size_t n_pes,
                         const std::string& why_unknown) {
  if (!why_unknown.empty()) return all_of(n_pes) + ", near or far (" + why_unknown + ")";
  const auto [farthest, nearest] =
      std::minmax_element(seen.begin(), seen.end(),
                          [](const SeenGpu& a, const SeenGpu& b) { return a.shared < b.shared; });
  if (nearest->shared == 0) return all_of(n_pes) + ", near or far (hwloc lists none of them)";
  if (nearest->shared == farthest->shared)
    return "all GPUs are equally near to this PE's processors; " + all_of(n_pes);
  if (seen[index].shared == nearest->shared)
    return "near this PE's processors, in " + seen[index].part;
  return "not the nearest to this PE's processors: those are given to others of the node's " +
         std::to_string(n_pes) + " PEs";
}

}  // namespace chime::host
