#include "tools/chime-doctor/job/leader.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "net/secure/secret.hpp"
#include "net/socket/error.hpp"
#include "net/socket/socket.hpp"

namespace chime::doctor {
namespace {

// The variables that name the job to its processes, and differ between jobs.
constexpr const char* kJobVariables[] = {"CHIME_RUN_ADDRESS", "PMIX_NAMESPACE"};

// Empty: no launcher has started this process, which is a job of its own.
std::string name_of_job() {
  std::string name;
  for (const char* variable : kJobVariables)
    if (const char* const value = std::getenv(variable)) name += std::string(value) + "\n";
  return name;
}

net::Address place_of(const std::string& job) {
  const std::string whole = job + std::to_string(::geteuid());
  const auto digest = net::hmac_sha256(net::bytes_of("chime-doctor"), net::bytes_of(whole));
  return net::Address::abstract("chime-doctor-" + net::to_hex(digest).substr(0, 24));
}

}  // namespace

HostClaim::HostClaim() {
  const std::string job = name_of_job();
  if (job.empty()) return;
  try {
    listener_ = net::listen_at(place_of(job));
  } catch (const net::Error&) {  // another PE listens there
    is_mine_ = false;
  }
}

}  // namespace chime::doctor
