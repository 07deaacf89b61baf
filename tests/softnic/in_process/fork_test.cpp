// fork() waits until the NIC's thread is at rest. A child gets no such thread: what it was changing
// would stay half changed, and a lock of its allocator taken.
//
// This file replaces three functions for the whole program: prctl() and ppoll() can hold the NIC's
// thread where it starts and where its sleep ends, and accept4() counts.

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "activated.hpp"
#include "child.hpp"

namespace {

using std::chrono::milliseconds;

std::atomic<bool> start_is_slow{false}, has_started{false};
std::atomic<bool> holds_sleeper{false}, sleeper_is_held{false};
std::atomic<bool> fork_has_begun{false}, in_fork{false};
std::atomic<int> accepted_in_fork{0};

// Registered before the NIC's own handler, so it is called behind it.
void prepare() {
  if (!sleeper_is_held.load()) return;
  in_fork.store(true);
  fork_has_begun.store(true);
  std::this_thread::sleep_for(milliseconds(200));
  in_fork.store(false);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (auto& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_NAME && start_is_slow.load()) {
    std::this_thread::sleep_for(milliseconds(200));
    has_started.store(true);
  }
  return static_cast<int>(
      ::syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]));
}

extern "C" [[gnu::visibility("default")]] int ppoll(pollfd* files, nfds_t count,
                                                    const timespec* at_most, const sigset_t*) {
  timespec left = at_most ? *at_most : timespec{};
  const auto heard =
      static_cast<int>(::syscall(SYS_ppoll, files, count, at_most ? &left : nullptr, nullptr, 8));
  if (heard > 0 && holds_sleeper.load()) {
    sleeper_is_held.store(true);
    until([] { return fork_has_begun.load(); });
    holds_sleeper.store(false);
  }
  return heard;
}

extern "C" [[gnu::visibility("default")]] int accept4(int socket, sockaddr* address,
                                                      socklen_t* length, int flags) {
  accepted_in_fork.fetch_add(in_fork.load());
  return static_cast<int>(::syscall(SYS_accept4, socket, address, length, flags));
}

namespace {

// Its first packet makes the other process' NIC admit it.
void write_to_the_other(int socket, const softnic_options& options) {
  Softnic().must_activate(&options);
  const Verbs verbs = load_verbs();
  Endpoint endpoint(verbs);
  Address peer;
  exchange(socket, endpoint.address(), peer);
  endpoint.connect(peer);
  exchange(socket, endpoint.address(), peer);  // both are connected
  endpoint.word(0) = 5;
  EXPECT_EQ(endpoint.write(peer, 0, 1), IBV_WC_SUCCESS);
}

}  // namespace

TEST(Fork, FindsTheNicsThreadStarted) {
  in_child([] {
    start_is_slow.store(true);
    const softnic_options options = options_for_this_test();
    Softnic().must_activate(&options);
    const Verbs verbs = load_verbs();
    const Endpoint endpoint(verbs);
    EXPECT_TRUE(has_started.load());
  });
}

TEST(Fork, FindsTheNicsThreadAtRest) {
  in_child([] {
    ASSERT_EQ(::pthread_atfork(prepare, nullptr, nullptr), 0);
    const softnic_options options = options_for_this_test();
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    const pid_t neighbour = start_child([&] {
      ::close(sockets[1]);
      write_to_the_other(sockets[0], options);
    });
    ::close(sockets[0]);
    Softnic().must_activate(&options);
    const Verbs verbs = load_verbs();
    Endpoint endpoint(verbs);
    Address peer;
    exchange(sockets[1], endpoint.address(), peer);
    endpoint.connect(peer);
    holds_sleeper.store(true);
    exchange(sockets[1], endpoint.address(), peer);  // both are connected
    ASSERT_TRUE(until([] { return sleeper_is_held.load(); }));
    in_child([] { ::_exit(0); });
    sleeper_is_held.store(false);
    EXPECT_EQ(accepted_in_fork.load(), 0);
    expect_success(neighbour);
    EXPECT_EQ(endpoint.word(1), 5u) << "the neighbour was admitted after the fork";
  });
}
