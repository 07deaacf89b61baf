#include "bootstrap/hub/host_processes.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace chime::bootstrap {

void HostProcesses::leave_to_launcher(int pe) {
  const std::lock_guard lock(mutex_);
  left_.insert(pe);
}

void HostProcesses::know(int pe, const ProcessEndpointInfo& endpoint_info) {
  const std::lock_guard lock(mutex_);
  if (names_.contains(pe)) return;
  if (watch(pe, endpoint_info))
    left_.erase(pe);
  else
    left_.insert(pe);
}

// The descriptor holds whatever process has the number; only a start time that is the PE's, read
// behind it, says that it is the PE.
bool HostProcesses::watch(int pe, const ProcessEndpointInfo& endpoint_info) {
  if (std::strcmp(endpoint_info.space, me_.space) != 0 || endpoint_info.pid == me_.pid)
    return false;
  net::Descriptor pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(endpoint_info.pid), 0)));
  const std::string name =
      "process " + std::to_string(endpoint_info.pid) + " on host " + endpoint_info.host;
  if (!is_alive(endpoint_info)) {
    names_.emplace(pe, name);
    note_end(pe);
    return true;
  }
  if (!pidfd) return false;
  names_.emplace(pe, name);
  pidfds_.emplace(pe, std::move(pidfd));
  return true;
}

void HostProcesses::note_explained(int pe) {
  const std::lock_guard lock(mutex_);
  unexplained_.erase(pe);
  left_.erase(pe);
}

void HostProcesses::note_end(int pe) {
  ended_.insert(pe);
  unexplained_.insert(pe);
}

void HostProcesses::take_ends() {
  std::vector<pollfd> polled;
  std::vector<int> pes;
  for (const auto& [pe, pidfd] : pidfds_) {
    polled.push_back({pidfd.get(), POLLIN, 0});
    pes.push_back(pe);
  }
  if (poll(polled.data(), polled.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < pes.size(); ++i) {
    if (polled[i].revents == 0) continue;
    pidfds_.erase(pes[i]);
    note_end(pes[i]);
  }
}

std::string HostProcesses::how_ended(int pe) {
  const std::lock_guard lock(mutex_);
  take_ends();
  return ended_.contains(pe) ? names_.at(pe) + " has ended" : "";
}

bool HostProcesses::has_unexplained_end() {
  const std::lock_guard lock(mutex_);
  take_ends();
  return !unexplained_.empty();
}

bool HostProcesses::is_left_to_launcher(int pe) const {
  const std::lock_guard lock(mutex_);
  return left_.contains(pe);
}

bool HostProcesses::leaves_any_to_launcher() const {
  const std::lock_guard lock(mutex_);
  return !left_.empty();
}

}  // namespace chime::bootstrap
