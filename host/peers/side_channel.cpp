#include "host/peers/side_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "net/socket/error.hpp"
#include "net/socket/interfaces.hpp"

namespace chime::host {
namespace {

// Random, as nobody has to guess it: a PE that looks for it finds it in the endpoint info.
net::Address name_on_this_machine() {
  return net::Address::abstract("chime-" + net::to_hex(net::random_token()).substr(0, 32));
}

net::Mesh::Options options_for(bootstrap::Bootstrap& bootstrap, const std::string& interface,
                               std::chrono::milliseconds timeout) {
  net::Mesh::Options options{.secret = bootstrap.job_secret(),
                             .job = bootstrap.job_id(),
                             .pe = bootstrap.rank(),
                             .n_pes = bootstrap.size(),
                             .listen_at = {name_on_this_machine()},
                             .connect_timeout = timeout};
  options.log = [pe = options.pe](const std::string& line) {
    log(LogLevel::kWarn, pe, "{}", line);
  };
  if (bootstrap.node().n_pes == bootstrap.size()) return options;
  for (const net::Address& address : addresses_of_this_host(interface))
    options.listen_at.push_back(address);
  options.if_unreachable =
      "; PEs of several nodes, or of several network namespaces (containers) of one, need a "
      "network that connects them (CHIME_BOOTSTRAP_IF names the interface)";
  return options;
}

}  // namespace

std::vector<net::Address> addresses_of_this_host(const std::string& wanted) {
  std::vector<net::Address> addresses;
  for (const net::Interface& i : net::interfaces_that_are_up())
    if (wanted.empty() || i.name == wanted) addresses.push_back(i.address);
  if (addresses.empty())
    throw Error("side channel", CHIMEX_ERR_SYSTEM,
                wanted.empty()
                    ? "no network interface with an address is up, not even lo"
                    : "CHIME_BOOTSTRAP_IF=" + wanted + ": no such interface is up with an address");
  return addresses;
}

SideChannel::SideChannel(bootstrap::Bootstrap& bootstrap, std::string name,
                         const std::string& interface, std::chrono::milliseconds timeout, Lost lost)
    : bootstrap_(bootstrap),
      key_("chime.side." + std::move(name)),
      mesh_(
          options_for(bootstrap, interface, timeout), [this](int pe) { find_endpoint_info(pe); },
          std::move(lost)) {
  bootstrap.publish(key_, mesh_.endpoint_info());
}

SideChannel::~SideChannel() {
  mesh_.stop();
  if (thread_.joinable()) thread_.join();
}

void SideChannel::handle(SideTag tag, Handler handler) {
  mesh_.handle(static_cast<net::Mesh::Tag>(tag), std::move(handler));
}

void SideChannel::start() {
  thread_ = abi::start_thread([this] { mesh_.run(); });
}

bool SideChannel::send(int pe, SideTag tag, std::span<const std::byte> payload) {
  try {
    return mesh_.send(pe, static_cast<net::Mesh::Tag>(tag), payload);
  } catch (const std::exception& error) {
    throw Error("side channel", CHIMEX_ERR_PEER_DEAD, error.what());
  }
}

void SideChannel::find_endpoint_info(int pe) {
  try {
    auto question = bootstrap_.ask(pe, key_, [this, pe](bootstrap::Answer endpoint_info) {
      endpoint_info.code == CHIMEX_OK ? mesh_.found(pe, std::move(endpoint_info.value))
                                      : mesh_.not_found(pe, std::move(endpoint_info.why));
    });
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(question));
  } catch (const bootstrap::BootstrapError& error) {
    mesh_.not_found(pe, error.what());
  }
}

}  // namespace chime::host
