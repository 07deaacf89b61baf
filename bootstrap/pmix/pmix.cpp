#include "bootstrap/pmix/pmix.hpp"

#include <cstdlib>

#ifdef CHIME_HAVE_PMIX

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "bootstrap/hub/tcp.hpp"
#include "bootstrap/pmix/pmix_asker.hpp"
#include "bootstrap/pmix/pmix_client.hpp"
#include "bootstrap/pmix/pmix_host.hpp"
#include "bootstrap/pmix/pmix_rejoining.hpp"

// The code below relies on these properties of the launchers in use:
//
// - An endpoint info is visible without a fence: after PMIx_Put and PMIx_Commit a peer's PMIx_Get
// finds it.
//   How it waits differs. Open MPI 4.1: a peer of the same node waits at the server until the
//   commit or PMIX_TIMEOUT; one of another node gets NOT-FOUND at once if the owner has committed
//   anything before, and later finds the new endpoint info only by asking again. So a question is
//   asked again and again (pmix_asker.hpp), whatever the answer. A fence that carries all endpoint
//   infos to all nodes would do it in one go, but moves O(PEs) data at start for endpoint infos
//   that nobody may need, and makes every publish collective. PMIx_Fence is never called.
// - A PMIx_Get for the whole job (wildcard) of a key that the server lacks kills a Slurm job step
//   unless it is PMIX_OPTIONAL. Node names of other PEs are not known everywhere;
//   PMIx_Resolve_peers is.
// - PMIx_Notify_event locks Debian's mpirun up for good. Never called.
// - When the launcher's daemon dies, the only notification is PMIX_ERR_LOST_CONNECTION; without it
// processes spin on.

namespace chime::bootstrap {
namespace {

constexpr char kRendezvousKey[] = "chime.rendezvous";
constexpr std::chrono::seconds kMoment{1};  // for a launcher to take what is said in passing

// The process's first joining. A launcher keeps every endpoint info for as long as it lives, so
// later joinings (pmix_rejoining.hpp) leave none there.
class PmixBootstrap final : public Bootstrap {
 public:
  PmixBootstrap(PmixClient& client, std::chrono::milliseconds timeout)
      : client_(client),
        timeout_(timeout),
        asker_(std::make_shared<PmixAsker>(client_, questions())) {
    client_.enter();
  }
  ~PmixBootstrap() override {
    answer_those_still_open();
    if (host_) host_->stop();
    asker_->stop();
    client_.on_lost(nullptr);
    client_.leave();
  }

  // Leaves the endpoint infos that others of the job look for. First of all calls, but where this
  // is only to find where to meet again.
  void introduce() {
    host_.emplace(*this, client_);
    host_->join();
  }

  int rank() const override { return client_.rank(); }
  int size() const override { return client_.size(); }
  std::string job_id() const override { return std::string(client_.name_space()) + ".0"; }
  Bytes job_secret() const override {
    return host_->secret(std::chrono::steady_clock::now() + timeout_);
  }

  void publish(std::string_view key, std::span<const std::byte> value) override {
    publish_within(timeout_, key, value);
  }
  Bytes lookup_of_first(std::string_view key, Deadline deadline) override {
    return host_->lookup_of_first(key, deadline);
  }
  void abort(int code, std::string_view why) noexcept override;
  void on_peer_lost(std::function<void(int pe, std::string why)> lost) override {
    client_.on_lost(std::move(lost));
  }
  void ask_who_is_lost() const override { client_.ask_who_is_lost(); }
  std::string why_lost(int pe) const override { return client_.why_lost(pe); }
  std::string describe() const override {
    return std::string(client_.library().get_version()) + ", rank " + std::to_string(rank()) +
           " of " + std::to_string(size()) + " in " + client_.name_space();
  }

 private:
  void publish_within(std::chrono::milliseconds time, std::string_view key,
                      std::span<const std::byte> value);
  void publish_in_passing(std::string_view key, std::span<const std::byte> value) override {
    publish_within(std::min<std::chrono::milliseconds>(timeout_, kMoment), key, value);
  }
  static std::string full_key(std::string_view key) { return "chime.0." + std::string(key); }
  NodeInfo find_node() const override;
  void look_for(OpenQuestions::Id question, int pe, std::string_view key,
                bool may_wait) const override {
    asker_->ask(question, {pe, full_key(key)}, may_wait);
  }
  std::string why_open(OpenQuestions::Id question) const override {
    return asker_->why_open(question);
  }

  PmixClient& client_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<PmixAsker> asker_;
  std::mutex publish_mutex_;      // PMIx_Put and the PMIx_Commit that belongs to it
  std::optional<PmixHost> host_;  // last: it publishes and asks by all of the above
};

void PmixBootstrap::publish_within(std::chrono::milliseconds time, std::string_view key,
                                   std::span<const std::byte> value) {
  if (value.size() > kMaxValueBytes)
    throw BootstrapError("publishing '" + std::string(key) + "': " + std::to_string(value.size()) +
                             " bytes, at most " + std::to_string(kMaxValueBytes) + " are allowed",
                         CHIMEX_ERR_INVALID);
  // An empty byte object does not survive every PMIx, so one byte is added here and removed by the
  // lookup.
  Bytes content(value.begin(), value.end());
  content.push_back(std::byte{0});
  pmix_value_t packed{};
  packed.type = PMIX_BYTE_OBJECT;
  packed.data.bo.bytes = reinterpret_cast<char*>(content.data());
  packed.data.bo.size = content.size();
  std::lock_guard lock(publish_mutex_);
  auto status = client_.library().put(PMIX_GLOBAL, full_key(key).c_str(), &packed);
  if (status == PMIX_SUCCESS) status = client_.commit(time);
  const std::string what = "publishing '" + std::string(key) + "' through PMIx: ";
  if (status == PMIX_ERR_TIMEOUT)
    throw BootstrapError(what + "the launcher has not answered for " +
                             std::to_string(time.count()) + " ms (CHIME_INIT_TIMEOUT)",
                         CHIMEX_ERR_TIMEOUT);
  if (status != PMIX_SUCCESS) throw BootstrapError(what + client_.words(status));
}

NodeInfo PmixBootstrap::find_node() const {
  return host_->node(std::chrono::steady_clock::now() + timeout_);
}

// Where later joinings meet: in the process of PE 0, which makes the place when it joins a second
// time.
chimex_uniqueid_t rendezvous_by(PmixBootstrap& endpoint_infos, const std::string& interface,
                                Deadline deadline) {
  chimex_uniqueid_t id;
  if (endpoint_infos.rank() == 0) {
    id = create_unique_id(interface, kForEver);
    endpoint_infos.publish(kRendezvousKey, std::as_bytes(std::span(&id, 1)));
    return id;
  }
  const Bytes found = endpoint_infos.lookup(0, kRendezvousKey, deadline);
  if (found.size() != sizeof id)
    throw BootstrapError("PE 0 runs another version of Chime", CHIMEX_ERR_MISMATCH);
  std::memcpy(&id, found.data(), sizeof id);
  return id;
}

void PmixBootstrap::abort(int code, std::string_view why) noexcept try {
  client_.abort(code, std::string(why));
} catch (const std::exception&) {  // no thread can be started: the caller ends by itself
}

}  // namespace

bool is_started_by_pmix() { return std::getenv("PMIX_NAMESPACE") && std::getenv("PMIX_RANK"); }

std::unique_ptr<Bootstrap> join_pmix_job(const Settings& settings) {
  if (!is_started_by_pmix())
    throw BootstrapError(
        "CHIME_BOOTSTRAP=pmix, but no PMIx launcher (mpirun, prterun, srun --mpi=pmix) started "
        "this "
        "process: PMIX_NAMESPACE is not set");
  PmixClient& client = PmixClient::get(settings.timeout);
  const int joining = client.count_joining();
  auto endpoint_infos = std::make_unique<PmixBootstrap>(client, settings.timeout);
  if (joining == 0) {
    endpoint_infos->introduce();
    return endpoint_infos;
  }
  const Deadline deadline = std::chrono::steady_clock::now() + settings.timeout;
  const auto rendezvous = client.know_rendezvous(
      [&] { return rendezvous_by(*endpoint_infos, settings.interface, deadline); });
  endpoint_infos.reset();
  return rejoin_pmix_job(client, joining, rendezvous, settings, deadline);
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
