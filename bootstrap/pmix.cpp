#include "bootstrap/pmix.hpp"

#include <cstdlib>

#ifdef CHIME_HAVE_PMIX

#include <algorithm>
#include <atomic>
#include <climits>
#include <mutex>
#include <thread>

#include "bootstrap/pmix_client.hpp"
#include "net/secret.hpp"

// What was learned from the launchers in use, and is relied on below:
//
// - A card is visible without a fence: after PMIx_Put and PMIx_Commit a peer's PMIx_Get finds it.
// How it waits
//   differs. Open MPI 4.1: a peer of the same node waits at the server until the commit or
//   PMIX_TIMEOUT; one of another node gets NOT-FOUND at once if the owner has committed anything
//   before, and later finds the new card only by asking again. So lookup() asks again and again,
//   whatever the answer, until its deadline. A fence that carries all cards to all nodes would do
//   it in one go, but moves O(PEs) data at start for cards that nobody may need, and makes every
//   publish collective.
// - Only a collecting fence synchronises under Slurm (20.11 until today): its other algorithm
// believes in a tree
//   wider than the job. So every fence collects.
// - A fence that loses a PE returns PARTIAL-SUCCESS. So anything but SUCCESS is fatal.
// - A PMIx_Get for the whole job (wildcard) of a key that the server lacks kills a Slurm job step
// unless it is
//   PMIX_OPTIONAL. Node names of other PEs are not known everywhere; PMIx_Resolve_peers is.
// - PMIx_Notify_event locks Debian's mpirun up for good. Never called.
// - When the launcher's daemon dies, the only news is PMIX_ERR_LOST_CONNECTION; without it
// processes spin on.

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kFirstPause = 1ms;  // between two askings for a card that is not there
constexpr auto kLongestPause = 50ms;
constexpr int kGetSeconds =
    1;  // PMIx counts in seconds; short, so that news of a death is seen in between
constexpr auto kNewsGrace = 1s;
constexpr char kSecretKey[] = "chime.secret";
constexpr char kBrokenKey[] = "chime.barrier_broken";

class PmixBootstrap final : public Bootstrap {
 public:
  explicit PmixBootstrap(const Settings& settings)
      : client_(PmixClient::get(settings.timeout)),
        joining_(client_.join()),
        timeout_(settings.timeout) {
    if (rank() != 0) return;
    const auto secret = net::random_token();
    publish(kSecretKey, secret);
  }
  ~PmixBootstrap() override {
    client_.on_lost(nullptr);
    client_.leave();
  }

  int rank() const override { return client_.rank(); }
  int size() const override { return client_.size(); }
  std::vector<int> node_peers() const override { return client_.node_peers(); }
  std::string job_id() const override {
    return std::string(client_.name_space()) + "." + std::to_string(joining_);
  }
  Bytes job_secret() const override { return find(0, kSecretKey, Clock::now() + timeout_); }

  void publish(std::string_view key, std::span<const std::byte> value) override;
  Bytes lookup(int pe, std::string_view key, Deadline deadline) override {
    return find(pe, key, deadline);
  }
  void barrier(Deadline deadline) override;
  void abort(int code, std::string_view why) noexcept override;
  void on_peer_lost(std::function<void(int pe, std::string why)> lost) override {
    client_.on_lost(std::move(lost));
  }
  std::string why_lost(int pe) const override { return client_.why_lost(pe); }
  std::string describe() const override {
    return std::string(client_.library().get_version()) + ", rank " + std::to_string(rank()) +
           " of " + std::to_string(size()) + " in " + client_.name_space();
  }

 private:
  std::string full_key(std::string_view key) const {
    return "chime." + std::to_string(joining_) + "." + std::string(key);
  }
  Bytes find(int pe, std::string_view key, Deadline deadline) const;
  std::string list_gone(Deadline deadline) const;
  void enter_barrier(Deadline deadline);
  void tell_that_it_is_broken() noexcept;
  void throw_if_another_gave_up() const;
  pmix_status_t ask(int pe, const std::string& key, bool may_wait, PmixValue& value) const;

  PmixClient& client_;
  const int joining_;
  const std::chrono::milliseconds timeout_;
  std::atomic<bool> is_barrier_broken_{false};
  std::mutex publish_mutex_;  // PMIx_Put and the PMIx_Commit that belongs to it
};

void PmixBootstrap::publish(std::string_view key, std::span<const std::byte> value) {
  if (value.size() > kMaxValueBytes)
    throw BootstrapError("publishing '" + std::string(key) + "': " + std::to_string(value.size()) +
                             " bytes, at most " + std::to_string(kMaxValueBytes) + " are allowed",
                         CHIMEX_ERR_INVALID);
  // An empty byte object does not survive every PMIx: one byte more, cut off by find().
  Bytes content(value.begin(), value.end());
  content.push_back(std::byte{0});
  pmix_value_t packed{};
  packed.type = PMIX_BYTE_OBJECT;
  packed.data.bo.bytes = reinterpret_cast<char*>(content.data());
  packed.data.bo.size = content.size();
  std::lock_guard lock(publish_mutex_);
  auto status = client_.library().put(PMIX_GLOBAL, full_key(key).c_str(), &packed);
  if (status == PMIX_SUCCESS) status = client_.library().commit();
  if (status != PMIX_SUCCESS)
    throw BootstrapError("publishing '" + std::string(key) +
                         "' through PMIx: " + client_.words(status));
}

pmix_status_t PmixBootstrap::ask(int pe, const std::string& key, bool may_wait,
                                 PmixValue& value) const {
  const auto owner = pmix_proc(client_.name_space(), static_cast<pmix_rank_t>(pe));
  const auto how = may_wait ? pmix_seconds(PMIX_TIMEOUT, kGetSeconds) : pmix_flag(PMIX_IMMEDIATE);
  return client_.library().get(&owner, key.c_str(), &how, 1, value.out());
}

Bytes PmixBootstrap::find(int pe, std::string_view key, Deadline deadline) const {
  const auto what = "'" + std::string(key) + "' of PE " + std::to_string(pe);
  if (pe < 0 || pe >= size())
    throw BootstrapError(what + ": the job has PEs 0 to " + std::to_string(size() - 1),
                         CHIMEX_ERR_INVALID);
  const auto begin = Clock::now();
  auto pause = kFirstPause;
  for (;;) {
    // The server counts whole seconds: near the deadline, ask without waiting there.
    const bool may_wait = deadline - Clock::now() > std::chrono::seconds(kGetSeconds);
    PmixValue value;
    const auto status = ask(pe, full_key(key), may_wait, value);
    if (status == PMIX_SUCCESS && value->type == PMIX_BYTE_OBJECT && value->data.bo.size > 0) {
      const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
      return Bytes(bytes, bytes + value->data.bo.size - 1);
    }
    if (status == PMIX_ERR_TIMEOUT || Clock::now() >= deadline)
      if (const auto why = client_.why_lost(pe); !why.empty())
        throw BootstrapError(what + ": PE " + std::to_string(pe) + " is gone: " + why,
                             CHIMEX_ERR_PEER_DEAD);
    if (Clock::now() >= deadline)
      throw BootstrapError(what + ": waited " +
                               std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  Clock::now() - begin)
                                                  .count()) +
                               " ms; PE " + std::to_string(pe) +
                               " has not published it (PMIx: " + client_.words(status) + ")",
                           CHIMEX_ERR_TIMEOUT);
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - Clock::now()));
    pause = std::min(2 * pause, std::chrono::milliseconds(kLongestPause));
  }
}

// The server ends a fence for all that are in it, or for none: a PE that comes after its end begins
// another, which nobody else enters any more.
void PmixBootstrap::barrier(Deadline deadline) {
  if (is_barrier_broken_) throw BootstrapError("barrier: an earlier barrier of this PE has failed");
  try {
    throw_if_another_gave_up();
    enter_barrier(deadline);
  } catch (const BootstrapError&) {
    is_barrier_broken_ = true;
    tell_that_it_is_broken();
    throw;
  }
}

void PmixBootstrap::tell_that_it_is_broken() noexcept {
  try {
    publish(kBrokenKey, {});
  } catch (const std::exception&) {
    // Then others hear of it when their own time is over.
  }
}

// PE 0 speaks for all that were in the fence, and PE 1 where PE 0 is the one that was late: one
// question, and where both were late a second wait until the deadline.
void PmixBootstrap::throw_if_another_gave_up() const {
  const int speaker = rank() == 0 ? 1 : 0;
  PmixValue value;
  if (size() == 1 || ask(speaker, full_key(kBrokenKey), false, value) != PMIX_SUCCESS) return;
  throw BootstrapError("barrier: PE " + std::to_string(speaker) + " gave up an earlier one",
                       CHIMEX_ERR_TIMEOUT);
}

void PmixBootstrap::enter_barrier(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - Clock::now()).count();
  const pmix_info_t how[] = {
      pmix_flag(PMIX_COLLECT_DATA),
      pmix_seconds(PMIX_TIMEOUT, static_cast<int>(std::clamp<long long>(left, 1, INT_MAX)))};
  const auto status = client_.library().fence(nullptr, 0, how, 2);
  if (status == PMIX_SUCCESS) return;
  if (status == PMIX_ERR_TIMEOUT)
    throw BootstrapError("barrier: not all PEs have entered in time" + list_gone(Clock::now()),
                         CHIMEX_ERR_TIMEOUT);
  throw BootstrapError("barrier: PMIx_Fence: " + client_.words(status) + ": a PE is gone" +
                           list_gone(Clock::now() + kNewsGrace),
                       CHIMEX_ERR_PEER_DEAD);
}

// "; PE 2 is gone: ..." for each. The fence may fail before the launcher's own table knows why.
std::string PmixBootstrap::list_gone(Deadline deadline) const {
  for (;;) {
    std::string list;
    for (int pe = 0; pe < size(); pe++)
      if (const auto why = client_.why_lost(pe); !why.empty())
        list += "; PE " + std::to_string(pe) + " is gone: " + why;
    if (!list.empty() || Clock::now() >= deadline || !client_.can_ask()) return list;
    std::this_thread::sleep_for(kLongestPause);
  }
}

void PmixBootstrap::abort(int code, std::string_view why) noexcept {
  client_.library().abort(code, std::string(why).c_str(), nullptr, 0);
}

}  // namespace

bool is_started_by_pmix() { return std::getenv("PMIX_NAMESPACE") && std::getenv("PMIX_RANK"); }

std::unique_ptr<Bootstrap> join_pmix_job(const Settings& settings) {
  if (!is_started_by_pmix())
    throw BootstrapError(
        "CHIME_BOOTSTRAP=pmix, but no PMIx launcher (mpirun, prterun, srun --mpi=pmix) started "
        "this "
        "process: PMIX_NAMESPACE is not set");
  return std::make_unique<PmixBootstrap>(settings);
}

}  // namespace chime::bootstrap

#else  // no PMIx headers when this was compiled

namespace chime::bootstrap {

bool is_started_by_pmix() { return std::getenv("PMIX_NAMESPACE") && std::getenv("PMIX_RANK"); }

std::unique_ptr<Bootstrap> join_pmix_job(const Settings&) {
  throw BootstrapError(
      "this libchime was built without PMIx. Install libpmix-dev and build it again, or start the "
      "job with "
      "chime-run (CHIME_BOOTSTRAP=none runs each process as a job of its own)");
}

}  // namespace chime::bootstrap

#endif
