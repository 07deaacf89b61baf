// The whole emulated NIC of this process: device, link and engine, made at the first use.
//
// A child of fork() has no engine thread and must not speak for its parent, so the NIC stays with
// the parent: the child gets one of its own when it opens the device.
#pragma once

#include "softnic/engine/engine.hpp"
#include "softnic/firmware/device.hpp"
#include "softnic/kernel/handles.hpp"

namespace softnic {

class Nic {
 public:
  // The NIC, started. Throws std::runtime_error when it cannot be (bad SOFTNIC_FAULTS, no address
  // left).
  static Nic& instance();

  // The same without making one.
  static Nic* existing();

  // Stops the engine and destroys the NIC, if there is one. No file of it may be open.
  static void end();

  // Says what it has done, if somebody wants to know (counters.hpp).
  void tell();

  // The file behind the doorbell pages: what open("/dev/infiniband/uverbs0") gives is a duplicate
  // of it, so that the program's own mmap of a page needs no help.
  int bar_fd() const { return bar_.fd; }

  Device& device() { return device_; }
  Engine& engine() { return engine_; }
  Handles& handles() { return handles_; }  // of kernel objects; guarded by the device's lock

  // A NIC on `link` that nobody else knows and that is not started.
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
