// This process's connection to its PMIx server, and what the launcher says of PEs that are gone.
// Needs PMIx's headers.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/hub/host_processes.hpp"
#include "bootstrap/hub/lost_peers.hpp"
#include "bootstrap/hub/tcp.hpp"
#include "bootstrap/pmix/pmix_library.hpp"

namespace chime::bootstrap {

// The process's one connection to its PMIx server. It lasts to the end of the process, through
// several chime_init: launchers do not take one back that has finalized (under Open MPI 4.1 other
// PEs' calls failed).
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

  // Which joining of this process begins, from 0; all PEs count alike.
  int count_joining() { return joinings_++; }
  // Between the two this process is in the job: the launcher takes its end for a failure.
  void enter() { live_++; }
  void leave() { live_--; }

  // Where PEs meet that join again. `find` is called once a process, or until it does not throw.
  chimex_uniqueid_t know_rendezvous(const std::function<chimex_uniqueid_t()>& find) {
    const std::lock_guard lock(one_finds_);
    if (!rendezvous_) rendezvous_ = find();
    return *rendezvous_;
  }

  // Sends off what was put, within `timeout`: PMIX_ERR_TIMEOUT from a launcher that does not
  // answer.
  pmix_status_t commit(std::chrono::milliseconds timeout);
  // Ends the job's PEs. A launcher that does not answer is left alone after kAbortTime.
  void abort(int code, const std::string& why);

  // The PEs, this one included, that run on this PE's host by what the launcher knows: their
  // namespaces may differ.
  std::vector<int> host_peers() const;

  // The processes of this host's PEs: the launcher is asked only where these do not show that
  // nobody is gone.
  HostProcesses& processes() { return processes_; }

  // Why `pe` is gone, if the launcher has said so or says so when asked; else empty.
  std::string why_lost(int pe);
  // Why `pe` leaves no endpoint info any more, as far as is known without asking; else empty. It
  // may have left the job before it ended.
  std::string how_ended(int pe);
  // on_lost() hears of them.
  void ask_who_is_lost();
  // Somebody has asked, and found out that `pe` is gone.
  void note_gone(int pe, const std::string& why);
  void on_lost(LostPeers::Tell lost) { lost_peers_.tell_to(std::move(lost)); }

 private:
  explicit PmixClient(std::chrono::milliseconds timeout);
  ~PmixClient();

  using Call = std::function<pmix_status_t()>;
  pmix_status_t initialise(std::chrono::milliseconds timeout);
  std::optional<pmix_status_t> within(std::chrono::milliseconds timeout, Call call);

  void listen_for(std::initializer_list<pmix_status_t> codes, pmix_notification_fn_t handler);
  void ask_launcher_who_is_gone();
  bool is_joining() const;
  static void hear_of_lost_launcher(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
                                    pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t,
                                    void*);
  static void hear_of_lost_pe(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
                              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t, void*);

  const PmixLibrary library_ = PmixLibrary::load();
  const pid_t process_ = getpid();
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  pmix_proc_t me_{};
  int size_ = 0;
  std::atomic<int> live_{0};
  std::atomic<int> joinings_{0};
  std::atomic<bool> has_open_call_{false};  // which within() has left behind

  std::mutex one_finds_;  // guards rendezvous_
  std::optional<chimex_uniqueid_t> rendezvous_;

  std::mutex one_asks_;  // the launcher which PEs are gone; guards the members below
  bool can_ask_ = true;  // else it cannot tell
  std::chrono::steady_clock::time_point asked_at_{};
  std::shared_future<std::optional<std::vector<PmixProcess>>> asked_;  // not valid: nothing is
  HostProcesses processes_;
  LostPeers lost_peers_;

  static inline PmixClient* the_client =
      nullptr;  // for event handlers, which get no pointer of ours
};

}  // namespace chime::bootstrap
