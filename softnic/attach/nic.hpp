// The whole emulated NIC of this process: device, link and engine, made at the first use.
//
// A child of fork() has no engine thread and must not act for its parent, so the NIC stays with the
// parent: the child gets one of its own when it opens the device.
#pragma once

#include "softnic/engine/engine.hpp"
#include "softnic/firmware/device.hpp"
#include "softnic/kernel/handles.hpp"

namespace softnic {

class Nic {
 public:
  // The NIC, started. Throws std::runtime_error if it cannot start (bad SOFTNIC_FAULTS, no free
  // address).
  static Nic& instance();

  // The same without making one.
  static Nic* existing();

  // Stops the engine and destroys the NIC, if there is one. No file of it may be open.
  static void end();

  // Reports its counters, if SOFTNIC_COUNTERS is set (observe/counters.hpp).
  void tell();

  // The file behind the doorbell pages. open("/dev/infiniband/uverbs0") returns a duplicate of it,
  // so that the program's own mmap of a page works without help.
  int bar_fd() const { return bar_.fd; }

  Device& device() { return device_; }
  Engine& engine() { return engine_; }
  Handles& handles() { return handles_; }  // of kernel objects; guarded by the device's lock

  // A NIC on `link` that no other code knows and that is not started.
  explicit Nic(std::unique_ptr<Link> link);
  Nic(const Nic&) = delete;

 private:
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  struct Bar {
    Bar();
    ~Bar();
    int fd;
  };

  Bar bar_;
  Device device_;
  Handles handles_;
  Engine engine_;
};

}  // namespace softnic
