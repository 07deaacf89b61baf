// The facts that chime-info shows, before they are laid out.
#pragma once

#include <string>
#include <vector>

namespace chime::info {

struct Fact {
  std::string name;
  std::string text;
};

struct VariableFact {
  std::string name;
  std::string values;
  std::string fallback;
  std::string current;  // empty: unset
  std::string problem;  // why the current value is refused; empty if it is not
  std::string sentence;
};

struct Facts {
  std::vector<Fact> build;
  std::vector<std::string> devices;
  std::vector<Fact> job;
  std::vector<Fact> limits;
  std::vector<VariableFact> variables;
  std::vector<std::string> warnings;
};

// Looks at this build, this machine and the environment. Joins no job.
Facts gather_facts();

}  // namespace chime::info
