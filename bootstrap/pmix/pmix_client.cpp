#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix/pmix_client.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub/last_words.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRegisterTimeout = 5s;
constexpr auto kAskAgainAfter = 40ms;
constexpr auto kAnswerTime = 1s;
constexpr auto kJoiningTime = 1s;  // for PEs that start with this one to publish their hosts
constexpr auto kAbortTime = 5s;
constexpr int kExitWithLauncher = 1;

}  // namespace

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

// PMIx_Init hangs now and then: Open MPI 4.1 loses a PE that comes while others leave.
pmix_status_t PmixClient::initialise(std::chrono::milliseconds timeout) {
  const auto me = std::make_shared<pmix_proc_t>();
  const auto status =
      within(timeout, [me, init = library_.init] { return init(me.get(), nullptr, 0); });
  if (!status)
    throw BootstrapError("PMIx_Init has not returned for " + std::to_string(timeout.count()) +
                             " ms: the PMIx launcher does not answer",
                         CHIMEX_ERR_TIMEOUT);
  me_ = *me;
  return *status;
}

// Calls that wait for the launcher and take no time limit. On a thread of its own, which a call
// that does not return keeps, and what it captured with it.
std::optional<pmix_status_t> PmixClient::within(std::chrono::milliseconds timeout, Call call) {
  auto promise = std::make_shared<std::promise<pmix_status_t>>();
  auto status = promise->get_future();
  abi::start_thread([promise, call = std::move(call)] { promise->set_value(call()); }).detach();
  if (status.wait_for(timeout) == std::future_status::ready) return status.get();
  has_open_call_ = true;
  return std::nullopt;
}

pmix_status_t PmixClient::commit(std::chrono::milliseconds timeout) {
  return within(timeout, library_.commit).value_or(PMIX_ERR_TIMEOUT);
}

void PmixClient::abort(int code, const std::string& why) {
  within(kAbortTime,
         [abort = library_.abort, code, why] { return abort(code, why.c_str(), nullptr, 0); });
}

// A process that ends inside a job says nothing: the launcher shall take it for a failure. Nor does
// one that the launcher has left without an answer: it would wait for another, below the feet of
// the first call.
PmixClient::~PmixClient() {
  if (live_ == 0 && !has_open_call_ && process_ == getpid()) library_.finalize(nullptr, 0);
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
  if (pe < 0 || pe >= size_) return;
  processes_.note_explained(pe);
  lost_peers_.add(pe, why);
}

bool PmixClient::is_joining() const { return Clock::now() - begin_ < kJoiningTime; }

std::string PmixClient::why_lost(int pe) {
  if (processes_.has_unexplained_end() || (processes_.is_left_to_launcher(pe) && !is_joining()))
    ask_launcher_who_is_gone();
  return lost_peers_.why(pe);
}

std::string PmixClient::how_ended(int pe) {
  const std::string why = lost_peers_.why(pe);
  return why.empty() ? processes_.how_ended(pe) : why;
}

void PmixClient::ask_who_is_lost() {
  if (processes_.has_unexplained_end() || (processes_.leaves_any_to_launcher() && !is_joining()))
    ask_launcher_who_is_gone();
}

// Open MPI 4.1 sends no event when a PE dies, but answers when asked for the table of its processes
// on this host. A process whose state there is an error, beyond a normal end, has died. Launchers
// that cannot answer are asked once.
//
// One answer serves all PEs that are asked about at a time, and one question is open at a time: a
// stopped launcher holds up one thread, for kAnswerTime, once. The next thread that asks finds a
// late answer.
void PmixClient::ask_launcher_who_is_gone() {
  const std::unique_lock lock(one_asks_, std::try_to_lock);
  if (!lock || !can_ask_) return;
  auto wait = Clock::duration::zero();
  if (!asked_.valid()) {
    if (Clock::now() - asked_at_ < kAskAgainAfter) return;
    asked_at_ = Clock::now();
    asked_ = ask_for_processes(library_, me_.nspace);
    wait = kAnswerTime;
  }
  if (asked_.wait_for(wait) != std::future_status::ready) return;
  const auto processes = std::exchange(asked_, {}).get();
  can_ask_ = processes.has_value();
  if (!processes) return;
  for (const PmixProcess& process : *processes) {
    if (process.state >= PMIX_PROC_STATE_ERROR)
      note_gone(process.rank,
                "the PMIx launcher says that process " + std::to_string(process.pid) + " has died");
    else if (process.state >= PMIX_PROC_STATE_TERMINATED)
      processes_.note_explained(process.rank);
  }
}

std::vector<int> PmixClient::host_peers() const {
  PmixValue host;
  const auto optional = pmix_flag(PMIX_OPTIONAL);
  auto status = library_.get(&me_, PMIX_HOSTNAME, &optional, 1, host.out());
  if (status != PMIX_SUCCESS)
    throw BootstrapError("the PMIx launcher does not tell this host's name: " + words(status));
  pmix_proc_t* procs = nullptr;
  size_t n = 0;
  status = library_.resolve_peers(host.as_text().c_str(), me_.nspace, &procs, &n);
  if (status != PMIX_SUCCESS)
    throw BootstrapError("the PMIx launcher does not tell which PEs run on " + host.as_text() +
                         ": " + words(status));
  std::vector<int> peers;
  for (size_t i = 0; i < n; i++) peers.push_back(static_cast<int>(procs[i].rank));
  std::free(procs);
  return peers;
}

}  // namespace chime::bootstrap

#endif
