#include "bootstrap/tcp.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <mutex>

#include "bootstrap/hub.hpp"
#include "bootstrap/hub_client.hpp"
#include "bootstrap/id_content.hpp"
#include "net/interfaces.hpp"
#include "net/socket.hpp"

namespace chime::bootstrap {
namespace {

constexpr std::chrono::seconds kIdleLimit{60};  // for PEs that finalize and initialise again
constexpr int kPortAttempts = 16;

std::vector<net::Address> addresses_to_offer(const std::string& wanted) {
  std::vector<net::Address> found;
  std::string names;
  for (const net::Interface& i : net::interfaces_that_are_up()) {
    if (names.find(i.name) == std::string::npos) names += (names.empty() ? "" : ", ") + i.name;
    if (wanted.empty() || i.name == wanted) found.push_back(i.address);
  }
  if (!found.empty()) return found;
  throw BootstrapError(wanted.empty()
                           ? "no network interface with an address is up, not even lo"
                           : "CHIME_BOOTSTRAP_IF=" + wanted +
                                 ": no such interface is up with an address; there are: " + names);
}

// Every address of an interface, or every address of this machine: one listener a family.
std::vector<net::Address> addresses_to_listen_at(const std::vector<net::Address>& offered,
                                                 bool is_one_interface) {
  if (is_one_interface) return offered;
  std::vector<net::Address> everywhere;
  const auto is_offered = [&](int family) {
    return std::any_of(offered.begin(), offered.end(),
                       [family](const net::Address& a) { return a.family() == family; });
  };
  if (is_offered(AF_INET)) everywhere.push_back(net::Address::internet("0.0.0.0", 0));
  if (is_offered(AF_INET6)) everywhere.push_back(net::Address::internet("::", 0));
  return everywhere;
}

// All at one port, which the first gets from the kernel.
std::vector<net::Descriptor> listen_at_one_port(const std::vector<net::Address>& addresses,
                                                std::uint16_t& port) {
  std::vector<net::Descriptor> listeners;
  port = 0;
  for (const net::Address& address : addresses) {
    listeners.push_back(net::listen_at(address.with_port(port)));
    port = net::address_of(listeners.front()).port();
  }
  return listeners;
}

// That port may be taken at another address: then with another.
std::vector<net::Descriptor> listen_at_some_port(const std::vector<net::Address>& addresses,
                                                 std::uint16_t& port) {
  for (int attempt = 1;; attempt++) {
    try {
      return listen_at_one_port(addresses, port);
    } catch (const net::Error& error) {
      if (attempt == kPortAttempts)
        throw BootstrapError(std::string("cannot listen for PEs: ") + error.what());
    }
  }
}

// Hubs of this process, for its ids. Destroyed with the process; a hub whose PEs have all left has
// stopped serving. A child of fork() has the list but none of the hubs' threads, and leaves them.
class Hubs {
 public:
  ~Hubs() {
    if (process_ == ::getpid()) delete hubs_;
  }

  static void add(std::vector<net::Descriptor> listeners, Hub::Options options) {
    static Hubs hubs;
    std::lock_guard lock(hubs.mutex_);
    hubs.hubs_->emplace_back(std::move(listeners), std::move(options));
  }

 private:
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::list<Hub>* const hubs_ = new std::list<Hub>;
};

BootstrapError why_not_joined(const net::Error& why, int pe) {
  if (why.fault() == net::Fault::kRefused)
    return BootstrapError(std::string("the rendezvous of the unique id refused: ") + why.what(),
                          CHIMEX_ERR_MISMATCH);
  return BootstrapError(
      "cannot join the job of the unique id as PE " + std::to_string(pe) + ": " + why.what() +
          " (is the process that made the id still alive, and "
          "CHIME_BOOTSTRAP_IF right there?)",
      why.fault() == net::Fault::kVersion ? CHIMEX_ERR_MISMATCH : CHIMEX_ERR_TIMEOUT);
}

}  // namespace

chimex_uniqueid_t create_unique_id(const std::string& interface) try {
  IdContent content;
  content.token = net::random_token();
  content.addresses = addresses_to_offer(interface);
  auto listeners = listen_at_some_port(
      addresses_to_listen_at(content.addresses, !interface.empty()), content.port);
  Hub::Options options{.token = content.token, .idle_limit = kIdleLimit, .aborted = {}, .log = {}};
  options.log = [](const std::string& text) {
    std::fprintf(stderr, "chime: unique id's rendezvous: %s\n", text.c_str());
  };
  Hubs::add(std::move(listeners), std::move(options));
  return id_of(content);
} catch (const net::Error& error) {
  throw BootstrapError(error.what());
}

std::unique_ptr<Bootstrap> join_unique_id(const chimex_uniqueid_t& id, int pe, int n_pes,
                                          const Settings& settings) try {
  if (n_pes < 1 || pe < 0 || pe >= n_pes)
    throw BootstrapError(
        "there is no PE " + std::to_string(pe) + " in a job of " + std::to_string(n_pes),
        CHIMEX_ERR_INVALID);
  const auto content = content_of(id);
  HubClient::Options options;
  options.hub = content.addresses;
  options.waits_for_hub = true;
  options.token = content.token;
  options.pe = pe;
  options.n_pes = n_pes;
  options.timeout = settings.timeout;
  options.means = "unique id";
  options.hub_name = "the rendezvous of the unique id";
  options.ends_when_aborted = true;
  return std::make_unique<HubClient>(std::move(options),
                                     std::chrono::steady_clock::now() + settings.timeout);
} catch (const net::Error& error) {
  throw why_not_joined(error, pe);
}

}  // namespace chime::bootstrap
