#include "nic.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "shim.hpp"
#include "softnic/kernel/clock_page.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/observe/trace.hpp"

namespace softnic {
namespace {

constexpr rlim_t kBarBytes = 64 << 20;  // 16 384 doorbell pages; sparse

// Leaked unless ended: the engine's thread runs longer than every destructor of the program.
std::atomic<Nic*> the_nic{nullptr};

std::mutex& creation() {
  static auto& lock = *new std::mutex;
  return lock;
}

}  // namespace

Nic::Bar::Bar() : fd(::memfd_create("softnic-bar", MFD_CLOEXEC)) {
  rlimit files{};
  ::getrlimit(RLIMIT_FSIZE, &files);
  if (files.rlim_cur < kBarBytes)  // a signal would end the process
    throw std::runtime_error(
        "softnic: the doorbell pages are a file of 64 MiB in memory, and the "
        "limit of files is " +
        std::to_string(files.rlim_cur) + " bytes (ulimit -f)");
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(kBarBytes)) != 0)
    throw std::runtime_error(std::string("softnic: cannot create the doorbell pages: ") +
                             std::strerror(errno));
  write_clock_page(fd);
}

Nic::Bar::~Bar() { ::syscall(SYS_close, fd); }

Nic::Nic(std::unique_ptr<Link> link)
    : device_(link->address(), bar_.fd), engine_(device_, std::move(link), settings().faults) {}

Nic* Nic::existing() { return the_nic.load(std::memory_order_acquire); }

Nic& Nic::instance() {
  if (Nic* nic = existing()) return *nic;
  const std::lock_guard guard(creation());
  if (Nic* nic = existing()) return *nic;
  [[maybe_unused]] static const int once =
      ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  Nic* made = new Nic(make_shared_memory_link(settings().fabric));
  made->engine_.start();
  the_nic.store(made, std::memory_order_release);
  return *made;
}

void Nic::end() {
  const std::lock_guard guard(creation());
  Nic* const nic = the_nic.exchange(nullptr, std::memory_order_acq_rel);
  if (nic) nic->tell();
  delete nic;
}

void Nic::tell() {
  if (settings().counters.empty()) return;
  const std::lock_guard guard(device_.lock());
  engine_.tell_counters();
}

// These two locks guard everything that the engine and the control path touch: so a child finds it
// consistent.
void Nic::before_fork() {
  creation().lock();
  if (Nic* nic = existing()) nic->device_.lock().lock();
}

void Nic::after_fork_in_parent() {
  if (Nic* nic = existing()) nic->device_.lock().unlock();
  creation().unlock();
}

// Leaks the parent's NIC here, but closes its sockets: while the child held them, neighbours would
// not see the parent's end.
void Nic::after_fork_in_child() {
  if (Nic* nic = the_nic.exchange(nullptr, std::memory_order_acq_rel)) {
    nic->engine_.abandon_link();
    softnic_disown_files();
  }
  trace::reopen();
  creation().unlock();
}

namespace {

// A NIC that was not ended ends with its process.
[[gnu::destructor]] void tell_at_exit() {
  if (Nic* nic = Nic::existing()) nic->tell();
}

}  // namespace
}  // namespace softnic
