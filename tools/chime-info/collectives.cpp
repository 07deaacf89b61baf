#include "collectives.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/errors/error.hpp"
#include "host/settings/env.hpp"
#include "host/teams/algorithms.hpp"
#include "host/teams/team_table.hpp"

namespace chime::info {
namespace {

struct Choice {
  const host::Algorithms& of;
  std::uint64_t from;      // bytes from which the second one is taken
  std::uint64_t by_nodes;  // the third, where nodes allow it
  bool by_multimem;        // where GPUs have multicast; else as the rest says

  bool takes_few() const { return from > 0; }
  bool takes_many() const { return from != host::kNoBytes; }
  bool goes_by_nodes() const { return by_nodes != host::kNoBytes; }
};

struct Choices {
  std::vector<Choice> calls;
  std::size_t doubled;  // up to so many bytes; 0: nothing is
  struct {
    bool if_mapped, else_too;
  } meets_directly;
};

Choices choices(const host::Settings& settings, int n_pes) {
  const host::TeamTable::Shape shape = {static_cast<int>(settings.max_teams),
                                        static_cast<int>(settings.team_lanes), n_pes,
                                        settings.collective_scratch};
  const auto members = static_cast<std::size_t>(n_pes);
  const host::TeamSize team = {members, shape.slot_bytes(members),
                               host::are_doubled(settings.collectives, members)};
  const abi::SwitchSizes sizes = host::switch_sizes(settings.collectives, team);
  Choices all = {{},
                 team.doubles ? team.slot_bytes : 0,
                 {host::meets_directly(settings.collectives, members, true),
                  host::meets_directly(settings.collectives, members, false)}};
  for (const host::Algorithms& call : host::all_algorithms())
    all.calls.push_back({call, sizes.*call.switch_at,
                         call.goes_by_nodes() ? sizes.*call.by_nodes.switch_at : host::kNoBytes,
                         (settings.collectives.by_multimem & call.multimem) != 0});
  return all;
}

std::string meeting_words(const Choices& all) {
  if (!all.meets_directly.if_mapped) return "rounds: each tells log2(n) others, one after another";
  return fmt::format("direct{}: each tells all at once",
                     all.meets_directly.else_too ? "" : ", where all are mapped");
}

std::string value_of(std::string_view variable) {
  return host::process_environment(variable).value_or("auto");
}

void print_text(const Choices& all, int n_pes) {
  fmt::print("Algorithms of collectives in a team of all of {} PEs\n", n_pes);
  for (const Choice& choice : all.calls) {
    const host::Algorithms& of = choice.of;
    fmt::print("  {}  ({}={})\n", of.call, of.variable, value_of(of.variable));
    if (choice.by_multimem)
      fmt::print(
          "      multimem, in a team of a node's GPUs that have multicast (not yet run on "
          "hardware): {}\n      else\n",
          of.multimem_means);
    if (choice.takes_few())
      fmt::print("      {}{}: {}\n", of.few,
                 choice.takes_many()
                     ? fmt::format(", up to {} bytes of {}", choice.from - 1, of.counted)
                     : "",
                 of.few_means);
    if (choice.takes_many())
      fmt::print(
          "      {}{}: {}\n", of.many,
          choice.takes_few() ? fmt::format(", from {} bytes of {}", choice.from, of.counted) : "",
          of.many_means);
    if (choice.goes_by_nodes())
      fmt::print("      {}{}: {}\n", of.by_nodes.name,
                 choice.by_nodes > 0
                     ? fmt::format(", from {} bytes of {}", choice.by_nodes, of.counted)
                     : "",
                 of.by_nodes.means);
  }
  fmt::print("  barrier, sync  (CHIME_COLL_BARRIER={})\n      {}\n", value_of("CHIME_COLL_BARRIER"),
             meeting_words(all));
  fmt::print("  what each member sends to all, through slots  (CHIME_COLL_DOUBLING={})\n      {}\n",
             value_of("CHIME_COLL_DOUBLING"),
             all.doubled == 0 ? "straight to each"
                              : fmt::format("up to {} bytes: by recursive doubling", all.doubled));
}

void print_json(const Choices& all, int n_pes) {
  nlohmann::ordered_json object{{"pes", n_pes},
                                {"meets_directly", all.meets_directly.else_too},
                                {"meets_directly_if_mapped", all.meets_directly.if_mapped},
                                {"doubled_up_to", all.doubled},
                                {"collectives", nlohmann::ordered_json::array()}};
  for (const Choice& choice : all.calls) {
    nlohmann::ordered_json row{{"call", choice.of.call},        {"variable", choice.of.variable},
                               {"few", choice.of.few},          {"many", choice.of.many},
                               {"bytes_of", choice.of.counted}, {"from", nullptr}};
    if (choice.takes_many()) row["from"] = choice.from;
    if (choice.goes_by_nodes()) row["from_by_nodes"] = choice.by_nodes;
    if (choice.of.multimem != 0) row["by_multimem"] = choice.by_multimem;
    object["collectives"].push_back(std::move(row));
  }
  fmt::print("{}\n", object.dump(2));
}

}  // namespace

int print_collectives(int n_pes, bool as_json) {
  try {
    const host::Settings settings = host::read_settings();
    const Choices all = choices(settings, n_pes);
    as_json ? print_json(all, n_pes) : print_text(all, n_pes);
    return 0;
  } catch (const host::Error& error) {
    fmt::print(stderr, "chime-info: {}: {}\n", error.origin(), error.message());
    return 1;
  }
}

}  // namespace chime::info
