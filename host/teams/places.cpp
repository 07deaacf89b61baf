#include "host/teams/places.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace chime::host {
namespace {

constexpr std::string_view kKey = "chime.place";

bool is_one_node(const bootstrap::Bootstrap& bootstrap) {
  return bootstrap.node().n_pes == bootstrap.size();
}

std::vector<int> pes_in(const bootstrap::Bytes& list) {
  std::vector<int> pes(list.size() / sizeof(int));
  std::memcpy(pes.data(), list.data(), pes.size() * sizeof(int));
  return pes;
}

}  // namespace

void publish_node(bootstrap::Bootstrap& bootstrap) {
  const bootstrap::NodeInfo& node = bootstrap.node();
  if (node.my_pe == 0 && !is_one_node(bootstrap))
    bootstrap.publish(kKey, std::as_bytes(std::span(node.pes)));
}

Members pes_of_same_place(const bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline) {
  const bootstrap::NodeInfo& mine = bootstrap.node();
  std::vector<bool> is_known(static_cast<std::size_t>(bootstrap.size()));
  std::vector<int> same;
  for (int lowest = 0; lowest < bootstrap.size(); ++lowest) {
    if (is_known[static_cast<std::size_t>(lowest)]) continue;
    const std::vector<int> pes =
        lowest == mine.pes[0] ? mine.pes : pes_in(bootstrap.lookup(lowest, kKey, deadline));
    for (const int pe : pes) is_known.at(static_cast<std::size_t>(pe)) = true;
    if (static_cast<std::size_t>(mine.my_pe) < pes.size())
      same.push_back(pes[static_cast<std::size_t>(mine.my_pe)]);
  }
  return Members(std::move(same));
}

}  // namespace chime::host
