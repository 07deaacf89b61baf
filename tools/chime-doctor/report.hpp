// The report's two forms.
#pragma once

#include <string>
#include <vector>

#include "tools/chime-doctor/finding.hpp"

namespace chime::doctor {

struct Subject {
  const char* title;
  Findings findings;
};

std::string text_of(const std::vector<Subject>& report, bool is_brief);
std::string json_of(const std::vector<Subject>& report);

int how_many(const std::vector<Subject>& report, Level level);

}  // namespace chime::doctor
