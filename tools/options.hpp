// A tool's options, whose mistakes have one exit code in all tools.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "tools/output.hpp"

namespace chime::tools {

// The tool's exit code where an option is wrong, or asks for help or the version. Absent: it goes
// on.
inline std::optional<int> exit_code_after_parsing(const char* tool, CLI::App& app, int argc,
                                                  char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code_after_printing(tool, 0) : kCannot;
  }
}

}  // namespace chime::tools
