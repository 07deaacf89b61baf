#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace chime::run {
namespace {

std::string_view name_in(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// A PMIx launcher around chime-run, or chime-run around itself, must not be taken for the PE's own.
bool belongs_to_another_launcher(std::string_view variable) {
  return variable.starts_with("PMIX_") || variable.starts_with("CHIME_RUN_");
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  const auto is_added = [&](std::string_view name) {
    return std::any_of(added.begin(), added.end(),
                       [name](const std::string& other) { return name_in(other) == name; });
  };
  std::vector<std::string> all;
  for (char** variable = environ; *variable; variable++)
    if (!belongs_to_another_launcher(*variable) && !is_added(name_in(*variable)))
      all.emplace_back(*variable);
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::vector<std::string> with_values(std::vector<std::string> variables) {
  for (std::string& variable : variables) {
    if (variable.find('=') != std::string::npos) continue;
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr)
      throw std::invalid_argument("-x " + variable + ": it is not set here; -x " + variable +
                                  "=value sets it");
    variable.append("=").append(value);
  }
  return variables;
}

std::vector<std::string> variables_for_other_hosts() {
  std::vector<std::string> passed;
  for (char** variable = environ; *variable; variable++) {
    const auto name = name_in(*variable);
    if ((name.starts_with("CHIME_") && !belongs_to_another_launcher(name)) || name == "PATH" ||
        name == "LD_LIBRARY_PATH")
      passed.emplace_back(*variable);
  }
  return passed;
}

void set_variables(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const std::string name(name_in(variable));
    if (name.size() < variable.size()) setenv(name.c_str(), variable.c_str() + name.size() + 1, 1);
  }
}

}  // namespace chime::run
