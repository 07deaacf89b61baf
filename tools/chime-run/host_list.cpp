#include "host_list.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace chime::run {
namespace {

int slots_in(const std::string& text, const std::string& host) {
  int slots = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, slots).ptr != end || slots < 1)
    throw std::invalid_argument("--hosts: '" + text + "' is no number of slots of " + host +
                                " (name:slots; an IPv6 address stands in brackets)");
  return slots;
}

Host host_in(const std::string& text) {
  const bool has_brackets = text.starts_with('[') && text.find(']') != std::string::npos;
  const auto after_name = has_brackets ? text.find(']') + 1 : std::min(text.find(':'), text.size());
  Host host{.name = has_brackets ? text.substr(1, after_name - 2) : text.substr(0, after_name)};
  if (host.name.empty() || host.name.starts_with('-'))
    throw std::invalid_argument("--hosts: '" + text + "' names no host");
  if (after_name == text.size()) return host;
  if (text[after_name] != ':')
    throw std::invalid_argument("--hosts: '" + text + "' is neither a name nor name:slots");
  host.slots = slots_in(text.substr(after_name + 1), host.name);
  return host;
}

}  // namespace

std::vector<Host> hosts_in(const std::string& list) {
  std::vector<Host> hosts;
  std::istringstream words(list + ",");
  for (std::string word; std::getline(words, word, ',');) {
    hosts.push_back(host_in(word));
    const auto is_the_same = [&](const Host& other) { return other.name == hosts.back().name; };
    if (std::count_if(hosts.begin(), hosts.end(), is_the_same) > 1)
      throw std::invalid_argument("--hosts names " + hosts.back().name +
                                  " twice; for several PEs on it write " + hosts.back().name +
                                  ":slots");
  }
  return hosts;
}

std::vector<int> shares_of(const std::vector<Host>& hosts, int n_pes) {
  std::vector<int> shares;
  int left = n_pes, n_without_slots = 0;
  for (const Host& host : hosts) {
    shares.push_back(std::min(host.slots.value_or(0), left));
    left -= shares.back();
    n_without_slots += !host.slots;
  }
  if (left > 0 && n_without_slots == 0)
    throw std::invalid_argument("-n " + std::to_string(n_pes) + ": the hosts have " +
                                std::to_string(n_pes - left) + " slots");
  for (std::size_t i = 0; i < hosts.size(); i++) {
    if (hosts[i].slots) continue;
    shares[i] = (left + n_without_slots - 1) / n_without_slots;
    left -= shares[i];
    --n_without_slots;
  }
  return shares;
}

}  // namespace chime::run
