#include "agent_command.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace chime::run {
namespace {

// No password can be asked for behind chime-run's output; a host that is gone is noticed after 45
// s.
constexpr char kSsh[] = "ssh -x -T -o BatchMode=yes -o ServerAliveInterval=15";

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

// As one word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string program(const std::string& own_name) {
  if (own_name.find('/') == std::string::npos) return "chime-run";
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return quoted(error ? own_name : path.string());
}

}  // namespace

std::function<std::vector<std::string>(const std::string&)> agent_command(
    const std::string& words, const std::string& own_name) {
  const char* const by_default = std::getenv("CHIME_RUN_AGENT");
  auto command = words_in(!words.empty() ? words : by_default ? by_default : kSsh);
  if (command.empty()) command = words_in(kSsh);
  return [command = std::move(command), agent = program(own_name)](const std::string& host) {
    auto whole = command;
    whole.insert(whole.end(), {host, agent + " --agent"});
    return whole;
  };
}

}  // namespace chime::run
