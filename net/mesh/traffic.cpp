#include "net/mesh/traffic.hpp"

#include <map>
#include <mutex>

namespace chime::net {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, Traffic> by_purpose;
};

// Never destroyed: threads that serve connections may outlive main().
Counts& counts() {
  static Counts& all = *new Counts;
  return all;
}

}  // namespace

Traffic traffic_of(const std::string& purpose) {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_purpose.find(purpose);
  return found == all.by_purpose.end() ? Traffic{} : found->second;
}

void count_traffic(const std::string& purpose, const Traffic& more) {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  Traffic& traffic = all.by_purpose[purpose];
  traffic.messages += more.messages;
  traffic.bytes += more.bytes;
}

}  // namespace chime::net
