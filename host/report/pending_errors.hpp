// An error that is recorded for a PE is thrown by its next host call. A program whose kernels wait
// makes no call, perhaps for ever. So an error that stays unasked for a moment is reported here,
// and does what CHIME_ON_ERROR says. With exit it ends the job, whatever the process's other
// threads do. With return it is printed on stderr, waits continue, and the next call throws it
// without printing it again.
//
// A PE that sleeps while another one ends the job is ended here, too; and so is the job that a
// kernel of this PE ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "host/pe/pe.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::host {

struct AbortCause;

class PendingErrors final : public Service {
 public:
  // An error that two looks find is reported: a call throws most errors at once, under its own
  // name.
  static constexpr std::chrono::milliseconds kBetweenLooks{500};

  // REQUIRES: the runtime of `slot` and its device stage, until this is gone.
  explicit PendingErrors(const PeSlot& slot);
  ~PendingErrors() override;
  PendingErrors(const PendingErrors&) = delete;

 private:
  void watch();
  void look() noexcept;
  void report(const AsyncError& error);
  void end_with_the_job(const AbortCause& cause);

  const PeSlot& slot_;
  Runtime& runtime_;  // the slot's, also after it has left the slot
  const net::Descriptor end_;
  std::string seen_, said_;
  bool saw_abort_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::host
