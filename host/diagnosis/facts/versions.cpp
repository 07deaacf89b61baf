#include "host/diagnosis/facts/versions.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

namespace chime::doctor {
namespace {

constexpr const char* kLibraryFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                           "/usr/lib/aarch64-linux-gnu",
                                           "/usr/lib64",
                                           "/usr/local/nvidia/lib64",
                                           "/usr/local/lib",
                                           "/usr/lib/wsl/lib"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "580.76.05": numbers with dots between them, from `at` on.
std::string dotted_number_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() &&
         (is_digit(text[end]) ||
          (text[end] == '.' && end > at && end + 1 < text.size() && is_digit(text[end + 1]))))
    ++end;
  return text.substr(at, end - at);
}

// All that have a dot.
std::vector<std::string> dotted_numbers_in(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string number = dotted_number_at(text, at);
    if (number.find('.') != std::string::npos) all.push_back(number);
    if (!number.empty()) at += number.size() - 1;
  }
  return all;
}

}  // namespace

Version version_in(const std::string& text) {
  Version version;
  const auto numbers = dotted_numbers_in(text);
  std::istringstream parts(numbers.empty() ? "" : numbers.front());
  for (std::string part; std::getline(parts, part, '.');) {
    int number = std::numeric_limits<int>::max();  // stays where a date makes it too large
    std::from_chars(part.data(), part.data() + part.size(), number);
    version.push_back(number);
  }
  return version;
}

std::string text_of(const Version& version) {
  std::string text;
  for (const int number : version) text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

Version kernel_version(const Root& root) {
  return version_in(root.text("/proc/sys/kernel/osrelease").value_or(""));
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.76.05  Release Build ...", without
// Open where the module is the proprietary one. Releases differ in the order of the words, so the
// version is the first number with a dot and three digits before it.
std::optional<NvidiaModule> nvidia_module(const Root& root) {
  const auto text = root.text("/proc/driver/nvidia/version");
  if (!text) return std::nullopt;
  const std::string line = text->substr(0, text->find('\n'));
  NvidiaModule module{"", line.find(" Open ") != std::string::npos};
  constexpr std::size_t kDigitsOfBranch = 3;
  for (const std::string& number : dotted_numbers_in(line))
    if (module.version.empty() && number.find('.') >= kDigitsOfBranch) module.version = number;
  return module;
}

std::vector<std::string> library_versions(const std::string& soname, const Root& root) {
  const std::string stem = soname.substr(0, soname.find(".so") + 4);  // "libcuda.so."
  std::vector<std::string> versions;
  for (const std::string folder : kLibraryFolders) {
    const std::string file = root.name_behind(folder + "/" + soname);
    if (!file.starts_with(stem) || file == soname) continue;
    const std::string version = file.substr(stem.size());
    if (std::ranges::find(versions, version) == versions.end()) versions.push_back(version);
  }
  return versions;
}

// libibverbs.so.1.14.44.0 is of rdma-core 44 (its CMakeLists.txt: PACKAGE_VERSION stands there).
std::optional<int> rdma_core_version(const Root& root) {
  for (const std::string& text : library_versions("libibverbs.so.1", root))
    if (const Version version = version_in(text); version.size() >= 3) return version[2];
  return std::nullopt;
}

}  // namespace chime::doctor
