#include "softgpu/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace softgpu {

namespace {

// Takes a number from the front of `text`.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<int> number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (!value) return std::nullopt;
  std::string_view text = value;
  const std::optional<int> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

// "4(x2),3": 4 on each of two nodes, then 3 on one.
std::optional<int> count_of_node(std::string_view list, int node) {
  while (const std::optional<int> count = take_number(list)) {
    int nodes = 1;
    if (list.starts_with("(x")) {
      list.remove_prefix(2);
      nodes = take_number(list).value_or(0);
      if (nodes == 0 || !list.starts_with(')')) return std::nullopt;
      list.remove_prefix(1);
    }
    if (node < nodes) return count;
    node -= nodes;
    if (!list.starts_with(',')) return std::nullopt;
    list.remove_prefix(1);
  }
  return std::nullopt;
}

std::optional<int> told_by_slurm() {
  const char* const list = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  const std::optional<int> node = number_in("SLURM_NODEID");
  return list && node ? count_of_node(list, *node) : std::nullopt;
}

}  // namespace

// A launcher that runs inside another one's job counts first: mpirun in an allocation of Slurm.
int launched_on_this_node() {
  for (const char* variable :
       {"CHIME_RUN_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const std::optional<int> count = number_in(variable)) return *count;
  }
  return told_by_slurm().value_or(1);
}

bool is_first_of_job() {
  for (const char* variable : {"CHIME_RUN_PE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const std::optional<int> rank = number_in(variable)) return *rank == 0;
  }
  return number_in("SLURM_PROCID").value_or(0) == 0;
}

}  // namespace softgpu
