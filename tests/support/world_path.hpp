// How PEs of a World reach each other, by its name: "p2p", "nic-verbs-ib", "mix-tcp",
// "lazy-devx-ib" and "lazy-tcp", where peers are connected or found on demand, "few-devx-ib", where
// the NIC is connected with one peer, and the proxy reaches the others, and "2hosts-tcp", where it
// reaches those of the other host, and those of one host are mapped.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chime::tests {

struct WorldPath {
  int mapped = 0;  // how many PEs' memory each maps, its own among them; 0: all of its host
  int hosts = 1;   // among which they are shared out equally
  std::vector<std::pair<std::string, std::string>> environment = {};
  bool takes_softnic = false;

  // Empty if `name` is none.
  static std::optional<WorldPath> parse(const std::string& name);
  // What the names are, in a sentence.
  static std::string names();

  // False, with the reason, if this build cannot go that way.
  bool set_environment(std::string* why_not) const;
};

}  // namespace chime::tests
