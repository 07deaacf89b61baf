#include "tools/chime-doctor/job/facts.hpp"

#include <nlohmann/json.hpp>

namespace chime::doctor {
namespace {

using nlohmann::json;

json json_of(const PortFacts& port);
json json_of(const ListeningAddress& address);
json json_of(const Subject& subject);
json json_of(const PathFacts& path);
json json_of(const ClockFacts& clock);

json array_of(const auto& all) {
  json array = json::array();
  for (const auto& one : all) array.push_back(json_of(one));
  return array;
}

json json_of(const PortFacts& port) {
  return {{"where", port.where},        {"is_ethernet", port.is_ethernet}, {"gid", port.gid},
          {"address", port.address},    {"network", port.network},         {"lid", port.lid},
          {"interface", port.interface}};
}
PortFacts port_of(const json& recorded) {
  return {recorded.value("where", ""),    recorded.value("is_ethernet", false),
          recorded.value("gid", ""),      recorded.value("address", ""),
          recorded.value("network", ""),  recorded.value("lid", 0),
          recorded.value("interface", "")};
}

json json_of(const ListeningAddress& address) {
  return {{"interface", address.interface}, {"host", address.host},
          {"port", address.port},           {"listens", address.listens},
          {"is_of_nic", address.is_of_nic}, {"network", address.network}};
}
ListeningAddress listening_address_of(const json& recorded) {
  return {recorded.value("interface", ""),          recorded.value("host", ""),
          recorded.value("port", std::uint16_t{0}), recorded.value("listens", true),
          recorded.value("is_of_nic", false),       recorded.value("network", "")};
}

json json_of(const Subject& subject) {
  json findings = json::array();
  for (const Finding& finding : subject.findings)
    findings.push_back({{"level", static_cast<int>(finding.level)},
                        {"what", finding.what},
                        {"where", finding.where},
                        {"seen", finding.seen},
                        {"mend", finding.mend}});
  return {{"title", subject.title}, {"findings", findings}};
}
Subject subject_of(const json& recorded) {
  Subject subject{recorded.value("title", ""), {}};
  for (const json& one : recorded.value("findings", json::array()))
    subject.findings.push_back({static_cast<Level>(one.value("level", 1)), one.value("what", ""),
                                one.value("where", ""), one.value("seen", ""),
                                one.value("mend", "")});
  return subject;
}

template <class Read>
auto all_of(const json& recorded, const char* name, Read read) {
  std::vector<decltype(read(recorded))> all;
  for (const json& one : recorded.value(name, json::array())) all.push_back(read(one));
  return all;
}

using Texts = std::map<std::string, std::string>;

json json_of(const HostFacts& host) {
  return {{"report", array_of(host.report)},
          {"n_ok", host.n_ok},
          {"versions", host.versions},
          {"ports", array_of(host.ports)},
          {"addresses", array_of(host.addresses)},
          {"why_not_listening", host.why_not_listening}};
}
HostFacts host_of(const json& recorded) {
  return {all_of(recorded, "report", subject_of),
          recorded.value("n_ok", 0),
          recorded.value("versions", Texts()),
          all_of(recorded, "ports", port_of),
          all_of(recorded, "addresses", listening_address_of),
          recorded.value("why_not_listening", "")};
}

json json_of(const PathFacts& path) {
  return {{"from", path.from},
          {"to", path.to},
          {"interface", path.interface},
          {"host", path.host},
          {"port", path.port},
          {"listens", path.listens},
          {"outcome", static_cast<int>(path.outcome)},
          {"why", path.why},
          {"through", path.through},
          {"source", path.source}};
}
PathFacts path_of(const json& recorded) {
  return {recorded.value("from", 0),
          recorded.value("to", 0),
          recorded.value("interface", ""),
          recorded.value("host", ""),
          recorded.value("port", std::uint16_t{0}),
          recorded.value("listens", true),
          static_cast<PathFacts::Outcome>(recorded.value("outcome", 0)),
          recorded.value("why", ""),
          recorded.value("through", ""),
          recorded.value("source", "")};
}

json json_of(const ClockFacts& clock) {
  return {{"pe", clock.pe},
          {"than", clock.than},
          {"ahead_s", clock.ahead_s},
          {"bound_s", clock.bound_s}};
}
ClockFacts clock_of(const json& recorded) {
  return {recorded.value("pe", 0), recorded.value("than", 0), recorded.value("ahead_s", 0.0),
          recorded.value("bound_s", 0.0)};
}

}  // namespace

json json_of(const PeFacts& facts) {
  json recorded = {{"pe", facts.pe},
                   {"host", facts.host},
                   {"node", facts.node},
                   {"process_space", facts.process_space},
                   {"chime", facts.chime},
                   {"interface", facts.interface},
                   {"n_started", facts.n_started},
                   {"limits", facts.limits},
                   {"nic", facts.nic}};
  if (facts.of_host) recorded["of_host"] = json_of(*facts.of_host);
  return recorded;
}
PeFacts pe_facts_of(const json& recorded) {
  using Limits = std::map<std::string, std::uint64_t>;
  PeFacts facts{recorded.value("pe", 0),
                recorded.value("host", ""),
                recorded.value("node", ""),
                recorded.value("process_space", ""),
                recorded.value("chime", ""),
                recorded.value("interface", 0),
                recorded.value("n_started", 0),
                recorded.value("limits", Limits()),
                std::nullopt,
                recorded.value("nic", "auto")};
  if (recorded.contains("of_host")) facts.of_host = host_of(recorded["of_host"]);
  return facts;
}

json json_of(const std::vector<ListeningAddress>& addresses) { return array_of(addresses); }
std::vector<ListeningAddress> addresses_of(const json& recorded) {
  std::vector<ListeningAddress> addresses;
  for (const json& one : recorded) addresses.push_back(listening_address_of(one));
  return addresses;
}

json json_of(const PairFacts& found) {
  return {{"paths", array_of(found.paths)}, {"clocks", array_of(found.clocks)}};
}
PairFacts pair_facts_of(const json& recorded) {
  return {all_of(recorded, "paths", path_of), all_of(recorded, "clocks", clock_of)};
}

}  // namespace chime::doctor
