#include "bootstrap/local.hpp"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "bootstrap/hub_client.hpp"
#include "net/socket.hpp"

namespace chime::bootstrap {
namespace {

constexpr char kAddress[] = "CHIME_RUN_ADDRESS";
constexpr char kToken[] = "CHIME_RUN_TOKEN";
constexpr char kPe[] = "CHIME_RUN_PE";
constexpr char kPes[] = "CHIME_RUN_NPES";

std::vector<net::Descriptor> listen_at(const std::string& name) {
  std::vector<net::Descriptor> listeners;
  listeners.push_back(net::listen_at(net::Address::abstract(name)));
  return listeners;
}

BootstrapError why_not_joined(const net::Error& why) {
  if (why.fault() == net::Fault::kRefused)
    return BootstrapError(std::string("chime-run refused: ") + why.what(), CHIMEX_ERR_MISMATCH);
  return BootstrapError("cannot reach chime-run, which " + std::string(kAddress) +
                            " says has started this process: " + why.what() +
                            " (has it ended, or is this another network namespace?)",
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

LocalJob::LocalJob(int n_pes, std::function<void(int, int, std::string)> aborted,
                   std::function<void(const std::string&)> log)
    : n_pes_(n_pes),
      token_(net::random_token()),
      address_("chime-run-" + net::to_hex(net::random_token()).substr(0, 24)) {
  hub_ = std::make_unique<Hub>(
      listen_at(address_),
      Hub::Options{
          .token = token_, .n_pes = n_pes, .aborted = std::move(aborted), .log = std::move(log)});
}

std::vector<std::string> LocalJob::environment_of(int pe) const {
  return {kAddress + ("=" + address_), kToken + ("=" + net::to_hex(token_)),
          kPe + ("=" + std::to_string(pe)), kPes + ("=" + std::to_string(n_pes_))};
}

bool is_started_by_chime_run() { return std::getenv(kAddress) != nullptr; }

std::unique_ptr<Bootstrap> join_local_job(const Settings& settings) try {
  const auto deadline = std::chrono::steady_clock::now() + settings.timeout;
  HubClient::Options options;
  options.hub = {net::Address::abstract(required(kAddress))};
  options.token = net::token_from_hex(required(kToken), kToken);
  options.pe = required_number(kPe);
  options.n_pes = required_number(kPes);
  options.timeout = settings.timeout;
  options.means = options.hub_name = "chime-run";
  options.ends_with_hub = true;
  return std::make_unique<HubClient>(std::move(options), deadline);
} catch (const net::Error& error) {
  throw why_not_joined(error);
}

}  // namespace chime::bootstrap
