// The interface to whatever started this job. It gives this PE's number, the number of PEs and the
// PEs of this node, and it is a place to leave and find endpoint infos. How PEs meet is not its
// business (host/collective).
//
// Implementations: pmix/pmix.cpp (any PMIx launcher), local.cpp (chime-run), hub/tcp.cpp
// (unique id), singleton.cpp; choose.cpp picks one. Rules that every one keeps
// (tests/unit/bootstrap runs the same bodies over all of them): publish() and a peer's ask() may
// come in any order; lookup() waits until its deadline; no call waits for ever; an error names what
// was waited for, and the launcher's own words if it had any. Calls may come from several threads
// at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bootstrap/hub/question.hpp"
#include "bootstrap/node_info.hpp"
#include "bootstrap/setup_failure.hpp"
#include "chime/error.h"

namespace chime::bootstrap {

// Thrown by every function below. `what()` says what failed and what to do; `code()` is what the
// user's call returns.
class BootstrapError : public std::exception {
 public:
  explicit BootstrapError(std::string what, chimex_status code = CHIMEX_ERR_SYSTEM)
      : what_(std::move(what)), code_(code) {}
  const char* what() const noexcept override { return what_.c_str(); }
  chimex_status code() const noexcept { return code_; }

 private:
  std::string what_;
  chimex_status code_;
};

class Bootstrap {
 public:
  // Leaves the job cleanly: peers do not take it for a death. Destroy it when no peer counts on
  // this one any more: after the job's last meeting (host/collective). Questions that are still
  // open are answered with CHIMEX_ERR_NOT_INITIALIZED, by the thread that leaves.
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The PEs of this PE's node. The first call asks for them, and may wait, at most
  // Settings::timeout, until all PEs have joined; throws where PEs are gone or do not come, and
  // then the next call asks again.
  const NodeInfo& node() const;

  // A name for the job that differs between jobs of one user at one time; the same on every PE.
  virtual std::string job_id() const = 0;

  // A secret that only this job's PEs know (for authenticating side channels). At least 16 bytes.
  // May wait, at most Settings::timeout, for PE 0.
  virtual Bytes job_secret() const = 0;

  // Leaves `value` under `key` for all PEs. Not collective; visible to ask() and lookup() when it
  // returns. A second publish() of a key may or may not be seen: publish each key once. At most
  // kMaxValueBytes.
  virtual void publish(std::string_view key, std::span<const std::byte> value) = 0;

  // Asks for what `pe` publishes under `key`, and returns at once. `on_answer` is called once: when
  // it is there, or when `pe` is known to be gone without having published it, or nobody can be
  // asked any more. So a thread may have as many questions open as it likes; each stays open until
  // then, or until the Question goes.
  //
  // It is called from a thread of the bootstrap or of the launcher's library, never within ask(),
  // maybe before ask() has returned, and answers may come in any order. It must not throw, wait, or
  // call the bootstrap; it may cancel its own question. Throws when there is no such PE, or nobody
  // to ask.
  Question ask(int pe, std::string_view key, OnAnswer on_answer) const;

  // Returns the value that `pe` published under `key`. Waits for it until `deadline`, then throws.
  // Throws at once when `pe` is known to be gone without having published it. A deadline in the
  // past asks without waiting for `pe`.
  Bytes lookup(int pe, std::string_view key, Deadline deadline) const;

  // Returns the value that PE 0 publishes under `key` and each other PE of the job asks for. As
  // lookup() of PE 0, but the PEs of one host may ask through one of them, and leave PE 0's host
  // alone. Once a key.
  virtual Bytes lookup_of_first(std::string_view key, Deadline deadline) {
    return lookup(0, key, deadline);
  }

  // ---- Set-up that takes all PEs: one that fails leaves no more of what the others wait for.

  // This PE's has: those that wait for it hear so, and tell it on to those that wait for them.
  // Where this PE has heard of another's first, that is what it tells. Does not wait for the
  // launcher, and does nothing at a second call.
  void tell_failure(chimex_status code, std::string_view why) noexcept;

  // As ask(); `on_failure` is called if `pe` tells one, and else never.
  Question ask_for_failure(int pe,
                           std::function<void(const SetupFailure& failure)> on_failure) const;

  // While one lives, a lookup() that waits for kFailurePatience asks for its PE's failure, too, and
  // throws that.
  class SettingUp {
   public:
    explicit SettingUp(const Bootstrap& bootstrap) : bootstrap_(bootstrap) {
      ++bootstrap_.n_setting_up_;
    }
    ~SettingUp() { --bootstrap_.n_setting_up_; }
    SettingUp(const SettingUp&) = delete;
    SettingUp& operator=(const SettingUp&) = delete;

   private:
    const Bootstrap& bootstrap_;
  };

  // Ends the job: asks the launcher to end the other PEs with `code`. Returns; the caller exits by
  // itself.
  virtual void abort(int code, std::string_view why) noexcept = 0;

  // A thread of the bootstrap calls `lost(pe, why)` when the launcher reports that `pe` is gone.
  // Some launchers never report it: PeerWatch, which listens here too, does not depend on them. A
  // loss that was reported before this call is passed on at once. The call replaces the callback of
  // an earlier call; when it returns, that one is not running and will not be called again. A
  // callback must not call the bootstrap.
  virtual void on_peer_lost(std::function<void(int pe, std::string why)> lost) = 0;

  // Asks a launcher that does not report by itself which PEs are gone; on_peer_lost() gets the
  // answer. A thread that waits calls this from time to time.
  virtual void ask_who_is_lost() const {}

  // Why `pe` is gone, if the launcher says so by itself or when asked; else empty. For waits that
  // do not go through this object: ask from time to time, not in a spin. A launcher that does not
  // answer is waited for, a second.
  virtual std::string why_lost(int pe) const = 0;

  // `say` is called, from a thread of the bootstrap, when the launcher is about to end the job or a
  // user asks it, and wants to know what this PE is doing: it says so on stderr. Not every launcher
  // asks. As with on_peer_lost, the callback of an earlier call is replaced, and must not call the
  // bootstrap.
  virtual void on_activity_asked(std::function<void()> say) { static_cast<void>(say); }

  // Whether the launcher does.
  virtual bool asks_for_activity() const { return false; }

  // One line for chime-info and error texts: "PMIx 4.2 under prterun, rank 2 of 4".
  virtual std::string describe() const = 0;

 protected:
  // As node(), which keeps it.
  virtual NodeInfo find_node() const = 0;

  // Sees to it that questions() hears the answer to `question`: what `pe`, one of the job,
  // publishes under `key`, or CHIMEX_ERR_PEER_DEAD and why it will not. Unless it `may_wait`, it
  // hears at once of an endpoint info that is not there: CHIMEX_ERR_TIMEOUT.
  virtual void look_for(OpenQuestions::Id question, int pe, std::string_view key,
                        bool may_wait) const = 0;

  // As publish(), without waiting for an answer for longer than a moment: for last words.
  virtual void publish_in_passing(std::string_view key, std::span<const std::byte> value) {
    publish(key, value);
  }

  // Why a question is still open, in words: "PE 1 has not published it".
  virtual std::string why_open(OpenQuestions::Id question) const = 0;

  const std::shared_ptr<OpenQuestions>& questions() const { return questions_; }
  // The value that answers `question`, for which this thread waits. Throws BootstrapError, whose
  // words begin with `what`.
  Bytes await(AwaitedAnswer& awaited, const Question& question, Deadline deadline,
              const std::string& what) const;
  // The first thing that an implementation does when it leaves.
  void answer_those_still_open();

 private:
  Question put(int pe, std::string_view key, bool may_wait, OnAnswer on_answer) const;
  SetupFailure failure_in(int pe, std::span<const std::byte> endpoint_info) const;
  void hear_last_words_of(int pe) const;
  void throw_failure_if_heard() const;

  const std::shared_ptr<OpenQuestions> questions_ = std::make_shared<OpenQuestions>();
  mutable std::mutex one_asks_;  // for the node
  mutable std::optional<NodeInfo> node_;
  mutable std::atomic<int> n_setting_up_{0};  // how many SettingUp live
  mutable std::mutex one_hears_;              // for the first failure that was heard or reported
  mutable std::optional<SetupFailure> failure_;
  bool has_reported_failure_ = false;
};

inline constexpr std::size_t kMaxValueBytes = 1 << 20;

// A PE in set-up waits this long before it asks whether the PEs that it waits for have failed. So a
// job whose PEs start one after the other asks nothing.
inline constexpr std::chrono::seconds kFailurePatience{2};

// The user's choices for the start-up exchange.
struct Settings {
  std::string kind = "auto";  // CHIME_BOOTSTRAP: auto, pmix, local or none
  std::string interface =
      {};  // CHIME_BOOTSTRAP_IF: interface by which other hosts reach this one; empty = all
  std::chrono::milliseconds timeout{
      60'000};  // bound of joining, and of the waits that take no deadline
  std::string makes_ids = "chimex_get_uniqueid";  // the call, as the program has it
};

// Joins the job that the environment describes: a PMIx launcher's (PMIX_NAMESPACE), else
// chime-run's (CHIME_RUN_ADDRESS), else a job of this one PE. `settings.kind` other than "auto"
// insists on one of them.
std::unique_ptr<Bootstrap> make_bootstrap(const Settings& settings = {});

}  // namespace chime::bootstrap
