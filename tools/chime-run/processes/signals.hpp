// The signals that chime-run's launcher and its agents take from a descriptor.
#pragma once

#include <functional>

#include "net/socket/descriptor.hpp"

namespace chime::run {

class Signals {
 public:
  // All signals that the guardian passes on, its death, and the ends of children. The guardian
  // blocks these before the fork.
  Signals();

  int fd() const { return fd_.get(); }
  // Calls `take` for each that has come.
  void take_all(const std::function<void(int signal)>& take) const;

 private:
  net::Descriptor fd_;
};

}  // namespace chime::run
