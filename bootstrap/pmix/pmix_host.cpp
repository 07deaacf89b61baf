#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix/pmix_host.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "bootstrap/place.hpp"
#include "chime/abi/start_thread.h"
#include "net/mesh/fields.hpp"
#include "net/secure/secret.hpp"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr char kMemberKey[] = "chime.node";    // of each PE: its process, and the name of its node
constexpr char kSecretKey[] = "chime.secret";  // of PE 0
constexpr char kHostKey[] = "chime.host";      // of a leader: all of its host, and the secret
constexpr char kRelayPrefix[] = "chime.first.";  // of a leader: an endpoint info of PE 0's

// A PE that has waited in vain looks this long for the late PEs, to name them.
constexpr auto kNamingTime = 1s;

// The first byte of a leader's endpoint info.
enum class Kind : std::uint8_t { kFound, kFailed };

template <class Read>
auto read_endpoint_info(int pe, const Bytes& endpoint_info, Read read) {
  try {
    net::Reader fields(endpoint_info);
    return read(fields);
  } catch (const net::Error&) {
    throw BootstrapError("PE " + std::to_string(pe) + " runs another version of Chime",
                         CHIMEX_ERR_MISMATCH);
  }
}

std::vector<int> ascending(std::vector<int> pes) {
  std::ranges::sort(pes);
  return pes;
}

// The PEs that the launcher names, and this PE even if it is not among them.
std::vector<int> pes_of_host(const PmixClient& client) {
  std::vector<int> pes = ascending(client.host_peers());
  if (!std::ranges::binary_search(pes, client.rank())) pes.push_back(client.rank());
  return ascending(std::move(pes));
}

}  // namespace

net::Writer& PmixHost::Failure::write(net::Writer& endpoint_info) const {
  return endpoint_info.put<std::int32_t>(code).put<std::int32_t>(gone).text(why);
}

PmixHost::Failure PmixHost::Failure::read(net::Reader& fields) {
  const auto code = static_cast<chimex_status>(fields.get<std::int32_t>());
  const auto gone = fields.get<std::int32_t>();
  return {code, gone, fields.text()};
}

void PmixHost::Failure::raise(const std::string& what) const {
  throw BootstrapError(
      what + (gone == kNobody ? why : "PE " + std::to_string(gone) + " is gone: " + why), code);
}

PmixHost::PmixHost(Bootstrap& endpoint_infos, PmixClient& client)
    : endpoint_infos_(endpoint_infos),
      client_(client),
      me_(endpoint_infos.rank()),
      pes_(pes_of_host(client)),
      leader_(pes_.front()),
      has_left_result_(!leads() || pes_.size() == 1) {}

PmixHost::~PmixHost() = default;

// A leader judges all of its host by itself, the others the leader: it tells them of the rest.
void PmixHost::join() {
  const Member mine{me_, endpoint_info_of_this_process(), name_of_this_node()};
  add(mine);
  if (me_ == 0) {
    const auto secret = net::random_token();
    endpoint_infos_.publish(kSecretKey, secret);
    const std::lock_guard lock(mutex_);
    secret_.assign(secret.begin(), secret.end());
  }
  endpoint_infos_.publish(kMemberKey, net::Writer().put(mine.process).text(mine.node).written());
  for (const int pe : pes_) {
    if (pe == me_ || (!leads() && pe != leader_)) continue;
    client_.processes().leave_to_launcher(pe);
    ask(pe, kMemberKey, &PmixHost::hear_member);
  }
  if (!leads()) return ask(leader_, kHostKey, &PmixHost::hear_leader);
  if (!has_pe_0()) ask(0, kSecretKey, &PmixHost::hear_secret);
  if (!has_left_result_) thread_ = abi::start_thread([this] { lead(); });
}

void PmixHost::stop() {
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void PmixHost::ask(int pe, std::string_view key,
                   void (PmixHost::*hear)(int pe, Bytes endpoint_info)) {
  asked_.push_back(endpoint_infos_.ask(pe, key, [this, pe, hear](Answer answer) {
    if (answer.code != CHIMEX_OK) return fail(pe, answer);
    try {
      (this->*hear)(pe, std::move(answer.value));
    } catch (const BootstrapError& error) {
      note({error.code(), kNobody, error.what()});
    }
  }));
}

void PmixHost::hear_member(int pe, Bytes endpoint_info) {
  add(read_endpoint_info(pe, endpoint_info, [pe](net::Reader& fields) {
    Member member{.pe = pe, .process = fields.get<ProcessEndpointInfo>()};
    member.node = fields.text();
    return member;
  }));
}

void PmixHost::hear_secret(int, Bytes endpoint_info) {
  const std::lock_guard lock(mutex_);
  secret_ = std::move(endpoint_info);
  changed_.notify_all();
}

void PmixHost::hear_leader(int leader, Bytes endpoint_info) {
  read_endpoint_info(leader, endpoint_info, [this](net::Reader& fields) {
    if (fields.get<Kind>() == Kind::kFailed) return note(Failure::read(fields));
    const auto secret = fields.bytes();
    for (auto n = fields.get<std::uint32_t>(); n > 0; --n) {
      Member member{.pe = fields.get<std::int32_t>(), .process = fields.get<ProcessEndpointInfo>()};
      member.node = fields.text();
      add(std::move(member));
    }
    const std::lock_guard lock(mutex_);
    secret_.assign(secret.begin(), secret.end());
    changed_.notify_all();
  });
}

// The leader's endpoint info comes by itself, and again among those of all.
void PmixHost::add(Member member) {
  if (member.pe != me_) client_.processes().know(member.pe, member.process);
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(members_, member.pe, &Member::pe) != members_.end()) return;
  members_.push_back(std::move(member));
  changed_.notify_all();
}

// A PE that leaves the job has its questions answered, too, and has not failed.
void PmixHost::fail(int pe, const Answer& answer) {
  if (answer.code == CHIMEX_ERR_NOT_INITIALIZED) return;
  if (answer.code == CHIMEX_ERR_PEER_DEAD) return note({answer.code, pe, client_.how_ended(pe)});
  note({answer.code, kNobody, answer.why});
}

// The first stays.
void PmixHost::note(Failure failure) {
  if (failure.gone != kNobody) client_.note_gone(failure.gone, failure.why);
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

// Leaves what was found for the others of the host, or why it will not be found. Before this PE
// goes by it, which may end its process.
void PmixHost::lead() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return must_stop_ || failure_ || is_complete(); });
  if (must_stop_) return;
  const Bytes endpoint_info = endpoint_info_for_others();
  lock.unlock();
  try {
    endpoint_infos_.publish(kHostKey, endpoint_info);
  } catch (const BootstrapError&) {
    // The others wait for it in vain, and say so. So does this PE, which publishes more.
  }
  lock.lock();
  has_left_result_ = true;
  changed_.notify_all();
}

Bytes PmixHost::endpoint_info_for_others() const {
  net::Writer endpoint_info;
  if (failure_) return failure_->write(endpoint_info.put(Kind::kFailed)).take();
  endpoint_info.put(Kind::kFound).bytes(secret_).put(static_cast<std::uint32_t>(members_.size()));
  for (const Member& member : members_)
    endpoint_info.put<std::int32_t>(member.pe).put(member.process).text(member.node);
  return endpoint_info.take();
}

NodeInfo PmixHost::node(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  wait(lock, deadline);
  const auto mine = std::ranges::find(members_, me_, &Member::pe);
  std::map<int, const Member*> local_peers;
  for (const Member& member : members_)
    if (member.node == mine->node) local_peers.emplace(member.pe, &member);
  std::vector<int> pes;
  std::vector<ProcessEndpointInfo> processes;
  for (const auto& [pe, member] : local_peers) {
    pes.push_back(pe);
    processes.push_back(member->process);
  }
  NodeInfo node = node_of(me_, std::move(pes));
  node.processes = std::move(processes);
  return node;
}

Bytes PmixHost::secret(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  wait(lock, deadline);
  return secret_;
}

void PmixHost::wait(std::unique_lock<std::mutex>& lock, Deadline deadline) const {
  const std::string what = "which PEs share this node: ";
  const auto begin = Clock::now();
  const auto has_ended = [this] {
    return must_stop_ || is_complete() || (failure_ && has_left_result_);
  };
  if (!changed_.wait_until(lock, deadline, has_ended) && !failure_) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    lock.unlock();
    throw BootstrapError(what + "waited " + std::to_string(waited.count()) +
                             " ms (CHIME_INIT_TIMEOUT); " + who_is_late(),
                         CHIMEX_ERR_TIMEOUT);
  }
  if (is_complete()) return;
  if (failure_) failure_->raise(what);
  throw BootstrapError(what + "this PE has left the job", CHIMEX_ERR_NOT_INITIALIZED);
}

// Only where the wait was in vain each PE asks for all of its host.
std::string PmixHost::who_is_late() const {
  const auto end = Clock::now() + kNamingTime;
  for (const int pe : pes_)
    if (pe != me_ && Clock::now() < end && !is_there(pe, kMemberKey))
      return "PE " + std::to_string(pe) + " has not joined the job";
  if (!has_pe_0() && !is_there(0, kSecretKey)) return "PE 0 has not joined the job";
  return "all of this host have joined, but PE " + std::to_string(leader_) + " has not said so";
}

bool PmixHost::is_there(int pe, std::string_view key) const try {
  endpoint_infos_.lookup(pe, key, Clock::now());
  return true;
} catch (const BootstrapError&) {
  return false;
}

// Where the leader does not help, this PE asks by itself.
Bytes PmixHost::lookup_of_first(std::string_view key, Deadline deadline) {
  if (has_pe_0() || pes_.size() == 1) return endpoint_infos_.lookup(0, key, deadline);
  const std::string relay = kRelayPrefix + std::string(key);
  if (leads()) return ask_first_for_others(relay, key, deadline);
  Bytes endpoint_info;
  try {
    endpoint_info = endpoint_infos_.lookup(leader_, relay, deadline);
  } catch (const BootstrapError&) {
    return endpoint_infos_.lookup(0, key, deadline);
  }
  return read_endpoint_info(leader_, endpoint_info, [](net::Reader& fields) {
    if (fields.get<Kind>() == Kind::kFailed) Failure::read(fields).raise("");
    const auto value = fields.rest();
    return Bytes(value.begin(), value.end());
  });
}

Bytes PmixHost::ask_first_for_others(const std::string& relay, std::string_view key,
                                     Deadline deadline) {
  try {
    Bytes endpoint_info = endpoint_infos_.lookup(0, key, deadline);
    endpoint_infos_.publish(relay, net::Writer().put(Kind::kFound).raw(endpoint_info).written());
    return endpoint_info;
  } catch (const BootstrapError& error) {
    // PE 0's own end. Otherwise it may have reported another PE's end.
    const std::string ended = client_.how_ended(0);
    if (error.code() == CHIMEX_ERR_PEER_DEAD && !ended.empty()) {
      net::Writer failed;
      endpoint_infos_.publish(
          relay, Failure{error.code(), 0, ended}.write(failed.put(Kind::kFailed)).written());
    }
    throw;
  }
}

}  // namespace chime::bootstrap

#endif  // CHIME_HAVE_PMIX
