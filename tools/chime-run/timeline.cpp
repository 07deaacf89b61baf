#include "timeline.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "host/trace/merge/merge.hpp"
#include "host/trace/paths.hpp"

namespace chime::run {

std::string take_timeline(std::vector<std::string>& variables) {
  constexpr std::string_view kName = "CHIME_TRACE=";
  const char* const inherited = std::getenv("CHIME_TRACE");
  std::string path = inherited ? inherited : "";
  for (const std::string& variable : variables)
    if (variable.starts_with(kName)) path = variable.substr(kName.size());
  if (path.empty()) return path;
  path = trace::numbered(path, 1);
  std::erase_if(variables, [=](const std::string& other) { return other.starts_with(kName); });
  variables.push_back(std::string(kName) + path);
  return path;
}

void prepare_timeline(const std::string& path) {
  trace::prepare(path);
  trace::remove_earlier(path);
  trace::remove_parts_of_earlier(path);
}

void finish_timeline(const std::string& path, const std::map<int, std::uint64_t>& ends) noexcept {
  try {
    if (trace::has_parts(path))
      std::fprintf(stderr, "chime-run: timeline %s\n", trace::merge(path, ends).c_str());
    else
      trace::remove_empty_folder(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chime-run: %s\n", error.what());
  }
}

}  // namespace chime::run
