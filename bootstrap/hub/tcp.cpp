#include "bootstrap/hub/tcp.hpp"

#include <unistd.h>

#include <cstdio>
#include <list>
#include <mutex>

#include "bootstrap/hub/hub.hpp"
#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/hub/listen.hpp"
#include "bootstrap/id_content.hpp"

namespace chime::bootstrap {
namespace {

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

chimex_uniqueid_t create_unique_id(const std::string& interface,
                                   std::chrono::seconds idle_limit) try {
  auto [listeners, addresses] = listen_for_other_hosts(interface);
  const IdContent content{.token = net::random_token(),
                          .port = addresses.front().port(),
                          .addresses = std::move(addresses)};
  Hub::Options options{.token = content.token, .idle_limit = idle_limit, .aborted = {}, .log = {}};
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
  const auto content = content_of(id, settings.makes_ids);
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
