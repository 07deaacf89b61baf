// Which PEs run on which host: what --hosts says, and what follows from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chime::run {

struct Host {
  std::string name;               // as the agent command gets it: "b", "user@b", "fd77::1"
  std::optional<int> slots = {};  // PEs that it takes; an equal share of what is left without
};

// "a,b:4,[fd77::1]:2". Throws std::invalid_argument with a sentence.
std::vector<Host> hosts_in(const std::string& list);

// How many PEs each host gets: in order, as many as it has slots; those without share the rest
// equally, the first ones getting one more where it does not come out even. Throws
// std::invalid_argument if there are too few slots.
std::vector<int> shares_of(const std::vector<Host>& hosts, int n_pes);

}  // namespace chime::run
