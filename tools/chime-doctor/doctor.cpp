#include "tools/chime-doctor/doctor.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tools/chime-doctor/diagnosis.hpp"
#include "tools/chime-doctor/job/job.hpp"
#include "tools/chime-doctor/report.hpp"
#include "tools/output.hpp"

namespace chime::doctor {
namespace {

std::chrono::milliseconds milliseconds_in(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

int print_report(const std::vector<Subject>& report, const Options& options) {
  const std::string text =
      options.as_json ? json_of(report, options.is_brief) : text_of(report, options.is_brief);
  std::fputs(text.c_str(), stdout);
  return tools::exit_code_after_printing("chime-doctor",
                                         how_many(report, Level::kWrong) > 0 ? 1 : 0);
}

void diagnose_and_exit(const Options& options) {
  const Asking asking = {options.root, milliseconds_in(options.patience_s)};
  if (options.is_job)  // with handlers: one takes leave of a PMIx launcher
    std::exit(diagnose_job({asking, milliseconds_in(options.wait_s)},
                           [&](const auto& report) { return print_report(report, options); }));
  std::_Exit(print_report(check_machine(look_at_machine(asking)), options));
}

}  // namespace chime::doctor
