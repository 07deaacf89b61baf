#include "bootstrap/pmix.hpp"

#include <cstdlib>

#ifdef CHIME_HAVE_PMIX

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>

#include "bootstrap/last_words.hpp"
#include "bootstrap/lost_peers.hpp"
#include "bootstrap/pmix_library.hpp"
#include "bootstrap/secret.hpp"

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

constexpr auto kRegisterTimeout = 5s;
constexpr auto kFirstPause = 1ms;  // between two askings for a card that is not there
constexpr auto kLongestPause = 50ms;
constexpr int kGetSeconds =
    1;  // PMIx counts in seconds; short, so that news of a death is seen in between
constexpr auto kNewsGrace = 1s;
constexpr auto kAskAgainAfter = 40ms;
constexpr int kExitWithLauncher = 1;
constexpr char kSecretKey[] = "chime.secret";

// The process's one connection to its PMIx server. It lasts to the end of the process, through
// several chime_init: a second PMIx_Init after a finalize makes other PEs' fences fail.
class PmixClient {
 public:
  // The first call joins the launcher, within `timeout`.
  static PmixClient& get(std::chrono::milliseconds timeout) {
    static PmixClient client(timeout);
    return client;
  }

  const PmixLibrary& library() const { return library_; }
  int rank() const { return static_cast<int>(me_.rank); }
  int size() const { return size_; }
  const char* name_space() const { return me_.nspace; }
  std::string words(pmix_status_t status) const { return library_.error_string(status); }

  // The n-th joining of this process; all PEs count alike. Keys of one joining are not seen by
  // another.
  int join() {
    live_++;
    return joinings_++;
  }
  void leave() { live_--; }

  std::vector<int> node_peers() const;

  // Why `pe` is gone, if the launcher has said so or says so when asked; else empty.
  std::string why_lost(int pe);
  bool can_ask() const { return can_ask_; }
  void on_lost(LostPeers::Tell lost) { lost_peers_.tell_to(std::move(lost)); }

 private:
  explicit PmixClient(std::chrono::milliseconds timeout);
  ~PmixClient();

  pmix_status_t initialise(std::chrono::milliseconds timeout);

  void listen_for(std::initializer_list<pmix_status_t> codes, pmix_notification_fn_t handler);
  void note_gone(int pe, const std::string& why);
  void ask_launcher_who_is_gone();
  bool is_time_to_ask();
  static void hear_of_lost_launcher(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
                                    pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t,
                                    void*);
  static void hear_of_lost_pe(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
                              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t, void*);

  const PmixLibrary library_ = PmixLibrary::load();
  const pid_t process_ = getpid();
  pmix_proc_t me_{};
  int size_ = 0;
  std::atomic<int> live_{0};
  std::atomic<int> joinings_{0};

  std::atomic<bool> can_ask_{true};
  std::atomic<Clock::rep> asked_at_{0};
  LostPeers lost_peers_;

  static inline PmixClient* the_client =
      nullptr;  // for event handlers, which get no pointer of ours
};

PmixClient::PmixClient(std::chrono::milliseconds timeout) {
  the_client = this;
  auto status = initialise(timeout);
  if (status != PMIX_SUCCESS)
    throw BootstrapError(
        "PMIx_Init: " + words(status) +
        ": PMIX_NAMESPACE is set, but its launcher cannot be reached (CHIME_BOOTSTRAP=none runs a "
        "single PE without it)");
  const auto job = pmix_proc(me_.nspace, PMIX_RANK_WILDCARD);
  const auto optional = pmix_flag(PMIX_OPTIONAL);
  PmixValue size;
  status = library_.get(&job, PMIX_JOB_SIZE, &optional, 1, size.out());
  if (status != PMIX_SUCCESS)
    throw BootstrapError("the PMIx launcher does not tell the job's size: " + words(status));
  size_ = static_cast<int>(size.as_number());
  if (size_ < 1 || rank() >= size_)
    throw BootstrapError("the PMIx launcher speaks of rank " + std::to_string(rank()) + " of " +
                         std::to_string(size_));
  listen_for({PMIX_ERR_LOST_CONNECTION}, hear_of_lost_launcher);
  listen_for({PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC}, hear_of_lost_pe);
}

// On a thread of its own, because PMIx_Init has no time limit, and hangs now and then: Open MPI 4.1
// loses a PE that comes while others leave.
pmix_status_t PmixClient::initialise(std::chrono::milliseconds timeout) {
  struct Call {
    pmix_proc_t me{};
    std::promise<pmix_status_t> status;
  };
  auto call = std::make_shared<Call>();  // outlives this function if the call does
  auto status = call->status.get_future();
  std::thread([call, init = library_.init] {
    call->status.set_value(init(&call->me, nullptr, 0));
  }).detach();
  if (status.wait_for(timeout) != std::future_status::ready)
    throw BootstrapError("PMIx_Init has not returned for " + std::to_string(timeout.count()) +
                             " ms: the PMIx launcher does not answer",
                         CHIMEX_ERR_TIMEOUT);
  me_ = call->me;
  return status.get();
}

// A process that ends inside a job says nothing: the launcher shall take it for a failure.
PmixClient::~PmixClient() {
  if (live_ == 0 && process_ == getpid()) library_.finalize(nullptr, 0);
}

void PmixClient::listen_for(std::initializer_list<pmix_status_t> codes,
                            pmix_notification_fn_t handler) {
  auto done = std::make_shared<std::promise<void>>();
  auto registered = done->get_future();
  std::vector<pmix_status_t> list(codes);
  library_.register_event_handler(
      list.data(), list.size(), nullptr, 0, handler,
      [](pmix_status_t, size_t, void* keeper) {
        std::unique_ptr<std::shared_ptr<std::promise<void>>> kept(
            static_cast<std::shared_ptr<std::promise<void>>*>(keeper));
        (*kept)->set_value();
      },
      new std::shared_ptr<std::promise<void>>(done));
  if (registered.wait_for(kRegisterTimeout) != std::future_status::ready)
    throw BootstrapError("the PMIx launcher does not answer");
}

void PmixClient::hear_of_lost_launcher(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*,
                                       size_t, pmix_info_t*, size_t,
                                       pmix_event_notification_cbfunc_fn_t, void*) {
  end_process(kExitWithLauncher, "PE " + std::to_string(the_client->rank()) +
                                     " ends because the PMIx launcher that started it is gone");
}

void PmixClient::hear_of_lost_pe(size_t, pmix_status_t status, const pmix_proc_t* source,
                                 pmix_info_t* info, size_t n, pmix_info_t*, size_t,
                                 pmix_event_notification_cbfunc_fn_t done, void* token) {
  const pmix_proc_t* affected = source;
  for (size_t i = 0; i < n; i++)
    if (std::strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && info[i].value.type == PMIX_PROC)
      affected = info[i].value.data.proc;
  if (affected && std::strcmp(affected->nspace, the_client->me_.nspace) == 0)
    the_client->note_gone(static_cast<int>(affected->rank),
                          "the PMIx launcher says " + the_client->words(status));
  if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, token);
}

void PmixClient::note_gone(int pe, const std::string& why) {
  if (pe >= 0 && pe < size_) lost_peers_.add(pe, why);
}

std::string PmixClient::why_lost(int pe) {
  ask_launcher_who_is_gone();
  return lost_peers_.why(pe);
}

// One answer is good for all PEs that are asked about in one go.
bool PmixClient::is_time_to_ask() {
  const auto now = Clock::now().time_since_epoch();
  auto last = asked_at_.load();
  return now - Clock::duration(last) >= kAskAgainAfter &&
         asked_at_.compare_exchange_strong(last, now.count());
}

// Open MPI 4.1 sends no event when a PE dies, but answers when asked for the table of its
// processes. Who is past the end without having been told to be there has died. Launchers that
// cannot answer are asked once.
void PmixClient::ask_launcher_who_is_gone() {
  if (!can_ask() || !is_time_to_ask()) return;
  PmixProcessTable table;
  if (table.ask(library_, me_.nspace) != PMIX_SUCCESS) {
    can_ask_ = false;
    return;
  }
  for (const auto* process : table.rows())
    if (process->state >= PMIX_PROC_STATE_ERROR &&
        std::strcmp(process->proc.nspace, me_.nspace) == 0)
      note_gone(
          static_cast<int>(process->proc.rank),
          "the PMIx launcher says that process " + std::to_string(process->pid) + " has died");
}

std::vector<int> PmixClient::node_peers() const {
  PmixValue host;
  const auto optional = pmix_flag(PMIX_OPTIONAL);
  auto status = library_.get(&me_, PMIX_HOSTNAME, &optional, 1, host.out());
  if (status != PMIX_SUCCESS)
    throw BootstrapError("the PMIx launcher does not tell this node's name: " + words(status));
  pmix_proc_t* procs = nullptr;
  size_t n = 0;
  status = library_.resolve_peers(host.as_text().c_str(), me_.nspace, &procs, &n);
  if (status != PMIX_SUCCESS)
    throw BootstrapError("the PMIx launcher does not tell which PEs run on " + host.as_text() +
                         ": " + words(status));
  std::vector<int> peers;
  for (size_t i = 0; i < n; i++) peers.push_back(static_cast<int>(procs[i].rank));
  std::free(procs);
  std::sort(peers.begin(), peers.end());
  return peers;
}

class PmixBootstrap final : public Bootstrap {
 public:
  explicit PmixBootstrap(const Settings& settings)
      : client_(PmixClient::get(settings.timeout)),
        joining_(client_.join()),
        timeout_(settings.timeout) {
    if (rank() != 0) return;
    const auto secret = random_token();
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

void PmixBootstrap::barrier(Deadline deadline) {
  if (is_barrier_broken_) throw BootstrapError("barrier: an earlier barrier of this PE has failed");
  const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - Clock::now()).count();
  const pmix_info_t how[] = {
      pmix_flag(PMIX_COLLECT_DATA),
      pmix_seconds(PMIX_TIMEOUT, static_cast<int>(std::clamp<long long>(left, 1, INT_MAX)))};
  const auto status = client_.library().fence(nullptr, 0, how, 2);
  if (status == PMIX_SUCCESS) return;
  is_barrier_broken_ = true;
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
