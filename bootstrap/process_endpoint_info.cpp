#include "bootstrap/process_endpoint_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "bootstrap/place.hpp"
#include "bootstrap/process_stat.hpp"

namespace chime::bootstrap {
namespace {

// Threads share it. A child of fork() has its parent's, and another process id.
const net::Token& nonce_of_this_process() {
  static const net::Token nonce = net::random_token();
  return nonce;
}

}  // namespace

ProcessEndpointInfo endpoint_info_of_this_process() {
  ProcessEndpointInfo endpoint_info;
  endpoint_info.pid = getpid();
  if (const auto stat = stat_of_process(getpid())) endpoint_info.start_time = stat->start_time;
  name_of_this_process_space().copy(endpoint_info.space, sizeof endpoint_info.space - 1);
  utsname names{};
  uname(&names);
  std::string(names.nodename).copy(endpoint_info.host, sizeof endpoint_info.host - 1);
  endpoint_info.nonce = nonce_of_this_process();
  return endpoint_info;
}

bool is_alive(const ProcessEndpointInfo& endpoint_info) {
  const auto stat = stat_of_process(static_cast<pid_t>(endpoint_info.pid));
  return stat && may_be_one_start(stat->start_time, endpoint_info.start_time);
}

bool is_of_this_process(const ProcessEndpointInfo& endpoint_info) {
  if (endpoint_info.nonce != nonce_of_this_process()) return false;
  const ProcessEndpointInfo mine = endpoint_info_of_this_process();
  return endpoint_info.pid == mine.pid && endpoint_info.start_time == mine.start_time &&
         std::strcmp(endpoint_info.space, mine.space) == 0;
}

}  // namespace chime::bootstrap
