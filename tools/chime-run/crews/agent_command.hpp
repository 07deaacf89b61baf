// The command that starts chime-run --agent on another host.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace chime::run {

// For a host's name. `words`: the user's, which get a host and a command of its shell; empty: ssh.
// `own_name`: how this chime-run was started. By a path: the agent is at the same place; by its
// name: the host's shell finds it.
std::function<std::vector<std::string>(const std::string& host)> agent_command(
    const std::string& words, const std::string& own_name);

}  // namespace chime::run
