// The report's two forms.
#pragma once

#include <string>
#include <vector>

#include "host/diagnosis/finding.hpp"

namespace chime::doctor {

struct Subject {
  std::string title;
  Findings findings;
};

std::string text_of(const std::vector<Subject>& report, bool is_brief);
std::string json_of(const std::vector<Subject>& report, bool is_brief);

int how_many(const std::vector<Subject>& report, Level level);

}  // namespace chime::doctor
