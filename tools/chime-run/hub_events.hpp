// Events that the hub's thread passes to chime-run's loop.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/local.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::run {

// A PE asked for the job's end.
struct Abort {
  int pe;
  int code;
  std::string why;
};

class HubEvents {
 public:
  HubEvents();

  // Readable when there is something new.
  int fd() const { return wake_.get(); }
  void note_seen();

  // From the hub's thread.
  void add(Abort abort);

  std::vector<Abort> take_aborts();
  // Asks all PEs what they are doing; then has_all_said() tells whether all have answered.
  void ask_activity(bootstrap::LaunchedJob& hub);
  bool has_all_said() const;

 private:
  void wake() const;

  const net::Descriptor wake_;
  mutable std::mutex mutex_;
  std::vector<Abort> aborts_;
  bool all_have_said_ = false;
};

}  // namespace chime::run
