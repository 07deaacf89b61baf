// The seam to whatever started this job: who am I, how many are we, and a place to leave and find
// cards.
//
// Implementations: pmix.cpp (any PMIx launcher), local.cpp (chime-run, one machine), tcp.cpp
// (unique id), singleton.cpp; choose.cpp picks one. Rules that every one keeps
// (tests/unit/bootstrap runs the same bodies over all of them): publish() and a peer's lookup() may
// come in any order; lookup() waits until its deadline; no call waits for ever; an error names what
// was waited for, and the launcher's own words if it had any. Calls may come from several threads
// at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chime/error.h"

namespace chime::bootstrap {

using Deadline = std::chrono::steady_clock::time_point;
using Bytes = std::vector<std::byte>;

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
  // Leaves the job cleanly: peers do not take it for a death. Destroy it after the job's last
  // barrier.
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // PEs that run on this PE's node (same kernel, same process-id space), ascending, this PE
  // included. May wait, at most Settings::timeout, until all PEs have joined.
  virtual std::vector<int> node_peers() const = 0;

  // A name for the job that differs between jobs of one user at one time; the same on every PE.
  virtual std::string job_id() const = 0;

  // A secret that only this job's PEs know (for authenticating side channels). At least 16 bytes.
  // May wait, at most Settings::timeout, for PE 0.
  virtual Bytes job_secret() const = 0;

  // Leaves `value` under `key` for all PEs. Not collective; visible to lookup() when it returns. A
  // second publish() of a key may or may not be seen: publish each key once. At most
  // kMaxValueBytes.
  virtual void publish(std::string_view key, std::span<const std::byte> value) = 0;

  // What `pe` published under `key`; waits for it until `deadline`, then throws. Throws at once
  // when `pe` is known to be gone without having published it. A deadline in the past asks without
  // waiting.
  virtual Bytes lookup(int pe, std::string_view key, Deadline deadline) = 0;

  // Returns when all PEs have entered. Throws at `deadline`, and when a PE is known to be gone.
  // It returns on all PEs or throws on all, also where the last comes when another's time is over.
  // A barrier that threw has broken the job: later ones throw too, at once on a PE that knows of
  // it.
  virtual void barrier(Deadline deadline) = 0;

  // Ends the job: asks the launcher to end the other PEs with `code`. Returns; the caller exits by
  // itself.
  virtual void abort(int code, std::string_view why) noexcept = 0;

  // `lost(pe, why)` is called, from a thread of the bootstrap, when the launcher tells that `pe` is
  // gone. Launchers may never tell: PeerWatch, which listens here too, does not depend on them.
  // News that came before is told at once. Replaces the callback of an earlier call; when it
  // returns, that one is not running and will not be called again. A callback must not call the
  // bootstrap.
  virtual void on_peer_lost(std::function<void(int pe, std::string why)> lost) = 0;

  // Why `pe` is gone, if the launcher says so by itself or when asked; else empty. For waits that
  // do not go through this object: ask from time to time, not in a spin.
  virtual std::string why_lost(int pe) const = 0;

  // `say` is called, from a thread of the bootstrap, when the launcher is about to end the job or a
  // user asks it, and wants to know what this PE is doing: it says so on stderr. Not every launcher
  // asks. As with on_peer_lost, the callback of an earlier call is replaced, and must not call the
  // bootstrap.
  virtual void on_activity_asked(std::function<void()> say) { static_cast<void>(say); }

  // One line for chime-info and error texts: "PMIx 4.2 under prterun, rank 2 of 4".
  virtual std::string describe() const = 0;
};

inline constexpr std::size_t kMaxValueBytes = 1 << 20;

// What the user may decide about the start-up exchange.
struct Settings {
  std::string kind = "auto";  // CHIME_BOOTSTRAP: auto, pmix, local or none
  std::string interface =
      {};  // CHIME_BOOTSTRAP_IF: interface of a unique id's rendezvous; empty = all
  std::chrono::milliseconds timeout{
      60'000};  // bound of joining, and of the waits that take no deadline
};

// Joins the job that the environment describes: a PMIx launcher's (PMIX_NAMESPACE), else
// chime-run's (CHIME_RUN_ADDRESS), else a job of this one PE. `settings.kind` other than "auto"
// insists on one of them.
std::unique_ptr<Bootstrap> make_bootstrap(const Settings& settings = {});

}  // namespace chime::bootstrap
