#include "host/transport/ofi/fabric/leftovers.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace chime::host::ofi {
namespace {

constexpr std::string_view kPrefix = "fi_shm://";

// Also of one that nobody has waited for.
bool has_ended(int process) {
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  const bool has = ::poll(&ended, 1, 0) == 1;
  ::close(fd);
  return has;
}

}  // namespace

void Leftovers::add(std::span<const std::byte> address) {
  std::string_view text(reinterpret_cast<const char*>(address.data()), address.size());
  text = text.substr(0, text.find('\0'));
  if (!text.starts_with(kPrefix)) return;
  text.remove_prefix(kPrefix.size());
  int process = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), process);
  if (error != std::errc{} || process <= 0 || text.find('/') != text.npos) return;
  const std::lock_guard lock(mutex_);
  endpoints_.push_back({process, std::string(text)});
}

void Leftovers::remove() {
  const std::lock_guard lock(mutex_);
  std::erase_if(endpoints_, [](const Endpoint& endpoint) {
    if (!has_ended(endpoint.process)) return false;
    ::shm_unlink(endpoint.name.c_str());
    return true;
  });
}

}  // namespace chime::host::ofi
