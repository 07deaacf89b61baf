// How PEs of a World reach each other, by its name: "p2p", "nic-verbs-ib", "mix-tcp",
// "lazy-devx-ib" and "lazy-tcp", where peers are connected or found on demand, "few-devx-ib", where
// the NIC is connected with one peer, and the proxy reaches the others, and "2hosts-tcp", where the
// proxy reaches the PEs of the other host, and those of one host are mapped.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chime::tests {

struct WorldPath {
  int mapped = 0;  // the PEs whose memory each maps, its own among them; 0: all of its host
  int hosts = 1;   // PEs are shared out equally among them
  std::vector<std::pair<std::string, std::string>> environment = {};
  bool takes_softnic = false;

  // Empty if `name` is no path.
  static std::optional<WorldPath> parse(const std::string& name);
  // The valid names, in a sentence.
  static std::string names();

  // False, with the reason, if this build lacks the path.
  bool set_environment(std::string* why_not) const;
};

}  // namespace chime::tests
