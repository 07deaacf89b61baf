#include "bootstrap/process_card.hpp"

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

ProcessCard card_of_this_process() {
  ProcessCard card;
  card.pid = getpid();
  if (const auto stat = stat_of_process(getpid())) card.start_time = stat->start_time;
  name_of_this_process_space().copy(card.space, sizeof card.space - 1);
  utsname names{};
  uname(&names);
  std::string(names.nodename).copy(card.host, sizeof card.host - 1);
  card.nonce = nonce_of_this_process();
  return card;
}

bool is_alive(const ProcessCard& card) {
  const auto stat = stat_of_process(static_cast<pid_t>(card.pid));
  return stat && may_be_one_start(stat->start_time, card.start_time);
}

bool is_of_this_process(const ProcessCard& card) {
  if (card.nonce != nonce_of_this_process()) return false;
  const ProcessCard mine = card_of_this_process();
  return card.pid == mine.pid && card.start_time == mine.start_time &&
         std::strcmp(card.space, mine.space) == 0;
}

}  // namespace chime::bootstrap
