#include "tools/chime-doctor/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace chime::doctor {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kWrong:
      break;
  }
  return "wrong";
}

std::string line_of(const Finding& finding) {
  std::string line = fmt::format("  {:<8} {}{}: {}\n", name_of(finding.level), finding.what,
                                 finding.where.empty() ? "" : " of " + finding.where, finding.seen);
  if (!finding.mend.empty()) line += fmt::format("           mend: {}\n", finding.mend);
  return line;
}

std::string summary_of(const std::vector<Subject>& report, bool is_brief) {
  return fmt::format("{} wrong, {} warnings, {} ok{}\n", how_many(report, Level::kWrong),
                     how_many(report, Level::kWarning), how_many(report, Level::kOk),
                     is_brief ? " (not shown)" : "");
}

nlohmann::ordered_json object_of(const std::string& subject, const Finding& finding) {
  nlohmann::ordered_json object{{"subject", subject},
                                {"level", name_of(finding.level)},
                                {"what", finding.what},
                                {"where", finding.where},
                                {"seen", finding.seen}};
  if (!finding.mend.empty()) object["mend"] = finding.mend;
  return object;
}

}  // namespace

std::string text_of(const std::vector<Subject>& report, bool is_brief) {
  std::string text;
  for (const Subject& subject : report) {
    std::string lines;
    for (const Finding& finding : subject.findings)
      if (!is_brief || finding.level != Level::kOk) lines += line_of(finding);
    if (!lines.empty()) text += fmt::format("{}\n{}\n", subject.title, lines);
  }
  return text + summary_of(report, is_brief);
}

std::string json_of(const std::vector<Subject>& report, bool is_brief) {
  nlohmann::ordered_json object{{"wrong", how_many(report, Level::kWrong)},
                                {"warnings", how_many(report, Level::kWarning)},
                                {"ok", how_many(report, Level::kOk)},
                                {"findings", nlohmann::ordered_json::array()}};
  for (const Subject& subject : report)
    for (const Finding& finding : subject.findings)
      if (!is_brief || finding.level != Level::kOk)
        object["findings"].push_back(object_of(subject.title, finding));
  // Texts of files and variables need not be UTF-8.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  return object.dump(2, ' ', false, replace) + "\n";
}

int how_many(const std::vector<Subject>& report, Level level) {
  int count = 0;
  for (const Subject& subject : report)
    for (const Finding& finding : subject.findings) count += finding.level == level;
  return count;
}

}  // namespace chime::doctor
