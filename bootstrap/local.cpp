#include "bootstrap/local.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "bootstrap/hub_client.hpp"

namespace chime::bootstrap {
namespace {

constexpr char kAddress[] = "CHIME_RUN_ADDRESS";
constexpr char kToken[] = "CHIME_RUN_TOKEN";
constexpr char kPe[] = "CHIME_RUN_PE";
constexpr char kPes[] = "CHIME_RUN_NPES";

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length;

  explicit AbstractAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    if (name.size() + 1 > sizeof address.sun_path)
      throw BootstrapError("socket name too long: " + name);
    std::memcpy(address.sun_path + 1, name.data(),
                name.size());  // the zero before it makes it abstract
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

FileDescriptor listen_at(const std::string& name) {
  const AbstractAddress address(name);
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || bind(fd.get(), address.get(), address.length) || listen(fd.get(), SOMAXCONN))
    throw BootstrapError(std::string("cannot listen on a unix socket: ") + std::strerror(errno));
  return fd;
}

FileDescriptor connect_to(const std::string& name) {
  const AbstractAddress address(name);
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || connect(fd.get(), address.get(), address.length))
    throw BootstrapError("cannot reach chime-run, which " + std::string(kAddress) +
                         " says has started this process: " + std::strerror(errno) +
                         " (has it ended, or is this another network namespace?)");
  return fd;
}

std::string required(const char* name) {
  const char* value = std::getenv(name);
  if (!value)
    throw BootstrapError(
        std::string(name) + " is not set: this process was not started by chime-run",
        CHIMEX_ERR_INVALID);
  return value;
}

int required_number(const char* name) {
  const auto text = required(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BootstrapError(std::string(name) + "=" + text + " is not a number", CHIMEX_ERR_INVALID);
  return value;
}

}  // namespace

LocalJob::LocalJob(int n_pes, std::function<void(int, int, std::string)> aborted)
    : n_pes_(n_pes),
      token_(random_token()),
      address_("chime-run-" + to_hex(random_token()).substr(0, 24)) {
  hub_ = std::make_unique<Hub>(
      listen_at(address_),
      Hub::Options{.token = token_, .n_pes = n_pes, .aborted = std::move(aborted), .log = {}});
}

std::vector<std::string> LocalJob::environment_of(int pe) const {
  return {kAddress + ("=" + address_), kToken + ("=" + to_hex(token_)),
          kPe + ("=" + std::to_string(pe)), kPes + ("=" + std::to_string(n_pes_))};
}

bool is_started_by_chime_run() { return std::getenv(kAddress) != nullptr; }

std::unique_ptr<Bootstrap> join_local_job(const Settings& settings) {
  const auto deadline = std::chrono::steady_clock::now() + settings.timeout;
  HubClient::Options options;
  options.token = token_from_hex(required(kToken), kToken);
  options.pe = required_number(kPe);
  options.n_pes = required_number(kPes);
  options.timeout = settings.timeout;
  options.means = options.hub_name = "chime-run";
  options.ends_with_hub = true;
  return std::make_unique<HubClient>(connect_to(required(kAddress)), std::move(options), deadline);
}

}  // namespace chime::bootstrap
