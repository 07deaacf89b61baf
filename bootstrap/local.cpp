#include "bootstrap/local.hpp"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/hub/listen.hpp"
#include "net/socket/socket.hpp"

namespace chime::bootstrap {
namespace {

constexpr char kAddress[] = "CHIME_RUN_ADDRESS";
constexpr char kToken[] = "CHIME_RUN_TOKEN";
constexpr char kPe[] = "CHIME_RUN_PE";
constexpr char kPes[] = "CHIME_RUN_NPES";

constexpr std::string_view kOverTcp = "tcp:";  // before addresses, which commas part

Listening listen_on_this_machine() {
  Listening listening;
  listening.addresses = {
      net::Address::abstract("chime-run-" + net::to_hex(net::random_token()).substr(0, 24))};
  listening.listeners.push_back(net::listen_at(listening.addresses[0]));
  return listening;
}

std::string text_of(const std::vector<net::Address>& addresses) {
  if (addresses[0].is_local()) return addresses[0].text().substr(1);  // without its @
  std::string text(kOverTcp);
  for (const net::Address& address : addresses)
    text += (text.size() == kOverTcp.size() ? "" : ",") + address.text();
  return text;
}

// "10.0.0.1:4711" or "[fd77::1]:4711".
net::Address internet_address_in(std::string_view text) try {
  const auto colon = text.rfind(':');
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  if (colon == std::string_view::npos ||
      std::from_chars(text.data() + colon + 1, end, port).ptr != end)
    throw net::Error(net::Fault::kProtocol, "no port");
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return net::Address::internet(std::string(host), port);
} catch (const net::Error&) {
  throw BootstrapError(
      std::string(kAddress) + ": '" + std::string(text) + "' is no address and port",
      CHIMEX_ERR_INVALID);
}

std::vector<net::Address> addresses_in(const std::string& text) {
  if (!text.starts_with(kOverTcp)) return {net::Address::abstract(text)};
  std::vector<net::Address> addresses;
  std::istringstream list(text.substr(kOverTcp.size()));
  for (std::string one; std::getline(list, one, ',');)
    addresses.push_back(internet_address_in(one));
  if (addresses.empty())
    throw BootstrapError(std::string(kAddress) + "=" + text + " names no address",
                         CHIMEX_ERR_INVALID);
  return addresses;
}

BootstrapError why_not_joined(const net::Error& why, const std::string& address) {
  if (why.fault() == net::Fault::kRefused)
    return BootstrapError(std::string("chime-run refused: ") + why.what(), CHIMEX_ERR_MISMATCH);
  return BootstrapError("cannot reach chime-run, which " + std::string(kAddress) +
                            " says has started this process: " + why.what() +
                            (address.starts_with(kOverTcp)
                                 ? " (has it ended, or does no network lead there from this host? "
                                   "CHIME_BOOTSTRAP_IF where chime-run runs names the interface)"
                                 : " (has it ended, or is this another network namespace?)"),
                        why.fault() == net::Fault::kTimeout   ? CHIMEX_ERR_TIMEOUT
                        : why.fault() == net::Fault::kVersion ? CHIMEX_ERR_MISMATCH
                                                              : CHIMEX_ERR_SYSTEM);
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

LaunchedJob::LaunchedJob(Options options) : n_pes_(options.n_pes), token_(net::random_token()) {
  auto [listeners, addresses] =
      options.interface ? listen_for_other_hosts(*options.interface) : listen_on_this_machine();
  address_ = text_of(addresses);
  hub_ = std::make_unique<Hub>(std::move(listeners),
                               Hub::Options{.token = token_,
                                            .n_pes = n_pes_,
                                            .aborted = std::move(options.aborted),
                                            .log = std::move(options.log)});
}

std::vector<std::string> LaunchedJob::environment_of(int pe) const {
  return {kAddress + ("=" + address_), kToken + ("=" + net::to_hex(token_)),
          kPe + ("=" + std::to_string(pe)), kPes + ("=" + std::to_string(n_pes_))};
}

bool is_started_by_chime_run() { return std::getenv(kAddress) != nullptr; }

int processes_of_chime_run() { return is_started_by_chime_run() ? required_number(kPes) : 0; }

std::unique_ptr<Bootstrap> join_local_job(const Settings& settings) {
  const auto deadline = std::chrono::steady_clock::now() + settings.timeout;
  const std::string address = required(kAddress);
  try {
    HubClient::Options options;
    options.hub = addresses_in(address);
    options.waits_for_hub = options.hub[0].is_internet();
    options.token = net::token_from_hex(required(kToken), kToken);
    options.pe = required_number(kPe);
    options.n_pes = required_number(kPes);
    options.timeout = settings.timeout;
    options.means = options.hub_name = "chime-run";
    options.ends_with_hub = true;
    return std::make_unique<HubClient>(std::move(options), deadline);
  } catch (const net::Error& error) {
    throw why_not_joined(error, address);
  }
}

}  // namespace chime::bootstrap
