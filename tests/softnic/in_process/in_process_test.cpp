// softnic_activate() in a program that is linked with neither libibverbs nor the softnic.

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <set>

#include "activated.hpp"
#include "child.hpp"

namespace {

std::size_t engine_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "softnic";
  }
  return count;
}

// The table lists the sockets of all processes; other tests have fabrics at the same time.
std::size_t own_sockets_of_fabrics() {
  std::set<std::string> own;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor of this iteration
    own.insert(std::filesystem::read_symlink(fd, gone).string());
  }
  std::ifstream sockets("/proc/self/net/unix");
  std::size_t count = 0;
  std::string num, refcount, protocol, flags, type, state, inode, rest;
  while (sockets >> num >> refcount >> protocol >> flags >> type >> state >> inode &&
         std::getline(sockets, rest))
    count += rest.find("softnic/") != std::string::npos && own.contains("socket:[" + inode + "]");
  return count;
}

}  // namespace

TEST(InProcess, DeviceIsFound) {
  in_child([] {
    Softnic().must_activate();
    EXPECT_EQ(device_names(load_verbs()), "mlx5_0 ");
  });
}

TEST(InProcess, NoDeviceWithoutActivation) {
  in_child([] {
    ::setenv("SYSFS_PATH", "/nowhere", 1);  // the host may have real ones
    const Softnic loaded;
    EXPECT_EQ(device_names(load_verbs()), "");
  });
}

TEST(InProcess, LoopbackWriteAndAtomic) {
  in_child([] {
    const softnic_options options = options_for_this_test();
    Softnic().must_activate(&options);
    expect_loopback_works(load_verbs());
  });
}

namespace {

struct Seen {
  std::string opcode;
  std::uint32_t queue_pair, remote_queue_pair;
  std::uint64_t bytes;
  int ends = 0, failures = 0;
};
std::deque<Seen> seen;  // by the NIC's thread, which completes a request after it

void* note_begin(const softnic_request* request) {
  return &seen.emplace_back(
      Seen{request->opcode, request->queue_pair, request->remote_queue_pair, request->bytes});
}
void note_end(void* begun, int has_failed) {
  ++static_cast<Seen*>(begun)->ends;
  static_cast<Seen*>(begun)->failures += has_failed;
}

}  // namespace

TEST(InProcess, AnObserverHearsHowEachRequestBeginsAndEnds) {
  in_child([] {
    const softnic_options options = options_for_this_test();
    const Softnic nic;
    nic.must_activate(&options);
    const Verbs verbs = load_verbs();
    expect_loopback_works(verbs);  // nobody listens
    static constexpr softnic_observer kObserver = {note_begin, note_end};
    nic.observe(&kObserver);
    {
      Endpoint from(verbs), to(verbs);
      const Address there = to.address();
      from.connect(there);
      to.connect(from.address());
      EXPECT_EQ(from.fetch_add(there, 5, 100, 1), IBV_WC_SUCCESS);
      Address wrong = there;
      wrong.rkey ^= 0xff00;
      EXPECT_EQ(from.write(wrong, 0, 100), IBV_WC_REM_ACCESS_ERR);
      nic.observe(nullptr);
      ASSERT_EQ(seen.size(), 2u);
      for (const Seen& one : seen) {
        EXPECT_EQ(one.queue_pair, from.address().qpn);
        EXPECT_EQ(one.remote_queue_pair, there.qpn);
        EXPECT_EQ(one.bytes, 8u);
        EXPECT_EQ(one.ends, 1);
      }
    }
    EXPECT_EQ(seen[0].failures, 0);
    EXPECT_EQ(seen[1].failures, 1);
    EXPECT_EQ(seen[1].opcode, "RDMA_WRITE");
    expect_loopback_works(verbs);
    EXPECT_EQ(seen.size(), 2u);
  });
}

TEST(InProcess, LibibverbsMayBeLoadedBefore) {
  in_child([] {
    const Verbs verbs = load_verbs();
    Softnic().must_activate();
    expect_loopback_works(verbs);
  });
}

namespace {

// Rank 0 writes to rank 1 and adds to a word of it; rank 1 answers with a write.
void play(int rank, int socket, const softnic_options& options) {
  Softnic().must_activate(&options);
  const Verbs verbs = load_verbs();
  Endpoint endpoint(verbs);
  Address peer;
  endpoint.word(7) = 40;
  exchange(socket, endpoint.address(), peer);
  endpoint.connect(peer);
  exchange(socket, endpoint.address(), peer);  // both are connected
  if (rank == 0) {
    EXPECT_EQ(endpoint.fetch_add(peer, 2, 7, 1), IBV_WC_SUCCESS);
    EXPECT_EQ(endpoint.word(1), 40u);
    endpoint.word(0) = 0xfeed;
    EXPECT_EQ(endpoint.write(peer, 0, 200), IBV_WC_SUCCESS);
    EXPECT_TRUE(endpoint.wait_for(300, 42));
  } else {
    EXPECT_TRUE(endpoint.wait_for(200, 0xfeed));
    EXPECT_EQ(endpoint.write(peer, 7, 300), IBV_WC_SUCCESS);
  }
  exchange(socket, endpoint.address(), peer);  // neither may leave early
}

}  // namespace

TEST(InProcess, TwoForkedProcesses) {
  const softnic_options options = options_for_this_test();
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const pid_t first = start_child([&] { ::close(sockets[1]), play(0, sockets[0], options); });
  const pid_t second = start_child([&] { ::close(sockets[0]), play(1, sockets[1], options); });
  ::close(sockets[0]), ::close(sockets[1]);
  expect_success(first);
  expect_success(second);
}

TEST(InProcess, ForkedChildHasItsOwnDevice) {
  in_child([] {
    const softnic_options options = options_for_this_test();
    Softnic().must_activate(&options);
    const Verbs verbs = load_verbs();
    Endpoint parents(verbs);
    const Address self = parents.address();
    parents.connect(self);
    in_child([&] {
      ibv_device** list = verbs.ibv_get_device_list(nullptr);
      ibv_context* own = need(verbs.ibv_open_device(list[0]), "ibv_open_device");
      verbs.ibv_free_device_list(list);
      ibv_pd* pd = need(verbs.ibv_alloc_pd(own), "ibv_alloc_pd");
      EXPECT_EQ(verbs.ibv_dealloc_pd(pd), 0);
      EXPECT_EQ(verbs.ibv_close_device(own), 0);
      expect_loopback_works(verbs);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);  // the parent's objects are not the child's
    });
    parents.word(0) = 77;
    EXPECT_EQ(parents.write(self, 0, 1), IBV_WC_SUCCESS);
    EXPECT_EQ(parents.word(1), 77u);
  });
}

TEST(InProcess, InheritedDeviceFailsInTheChild) {
  in_child([] {
    const softnic_options options = options_for_this_test();
    Softnic().must_activate(&options);
    const Verbs verbs = load_verbs();
    ibv_device** list = verbs.ibv_get_device_list(nullptr);
    ibv_context* parents = need(verbs.ibv_open_device(list[0]), "ibv_open_device");
    in_child([&] {
      EXPECT_EQ(verbs.ibv_alloc_pd(parents), nullptr);
      EXPECT_EQ(errno, EIO);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    });
    ibv_pd* pd = need(verbs.ibv_alloc_pd(parents), "ibv_alloc_pd");
    EXPECT_EQ(verbs.ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(verbs.ibv_close_device(parents), 0);
    verbs.ibv_free_device_list(list);
  });
}

// SIGUSR1 ends a process if one of its threads accepts it.
TEST(InProcess, SignalsWaitForTheProgram) {
  in_child([] {
    const softnic_options options = options_for_this_test();
    Softnic().must_activate(&options);
    const Verbs verbs = load_verbs();
    Endpoint endpoint(verbs);
    ASSERT_TRUE(until([] { return engine_threads() == 1; }));
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &usr1, nullptr), 0);
    ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
    const timespec deadline{60, 0};
    EXPECT_EQ(::sigtimedwait(&usr1, nullptr, &deadline), SIGUSR1);
  });
}

TEST(InProcess, SecondActivationIsRefused) {
  in_child([] {
    const Softnic softnic;
    softnic.must_activate();
    EXPECT_STREQ(softnic.error(), "");
    EXPECT_EQ(softnic.activate(nullptr), SOFTNIC_ALREADY_ACTIVE);
    EXPECT_STREQ(softnic.error(), "softnic: it is active already");
    expect_loopback_works(load_verbs());
  });
}

TEST(InProcess, TooLateAfterTheFirstLookForDevices) {
  in_child([] {
    const Verbs verbs = load_verbs();
    device_names(verbs);
    const Softnic softnic;
    EXPECT_EQ(softnic.activate(nullptr), SOFTNIC_TOO_LATE);
    EXPECT_STREQ(softnic.error(),
                 "softnic: libibverbs has looked for devices in /sys already; activate before the "
                 "first verbs call");
    EXPECT_EQ(::getenv("SYSFS_PATH"), nullptr);
  });
}

TEST(InProcess, BadOptionsAreNamed) {
  in_child([] {
    const Softnic softnic;
    softnic_options options = SOFTNIC_OPTIONS_INIT;
    options.faults = "no_such_rule:p=1";
    EXPECT_EQ(softnic.activate(&options), SOFTNIC_BAD_OPTION);
    EXPECT_NE(std::string(softnic.error()).find("no_such_rule"), std::string::npos);
    options.faults = nullptr;
    options.link_layer = "token-ring";
    EXPECT_EQ(softnic.activate(&options), SOFTNIC_BAD_OPTION);
    EXPECT_STREQ(softnic.error(),
                 "softnic: SOFTNIC_LINK_LAYER is 'token-ring'; it may be infiniband or ethernet");
    ::setenv("SOFTNIC_LOG", "loud", 1);
    EXPECT_EQ(softnic.activate(nullptr), SOFTNIC_BAD_OPTION);
    EXPECT_STREQ(softnic.error(), "softnic: SOFTNIC_LOG is 'loud'; it may be 0 to 4");
    ::unsetenv("SOFTNIC_LOG");
    ::setenv("SYSFS_PATH", "/nowhere", 1);
    EXPECT_EQ(softnic.activate(nullptr), SOFTNIC_BAD_OPTION);
    EXPECT_STREQ(softnic.error(),
                 "softnic: SYSFS_PATH is '/nowhere', and there is no "
                 "/nowhere/class/infiniband_verbs/uverbs0");
    ::unsetenv("SYSFS_PATH");
    softnic.must_activate();  // a refusal leaves no trace
    expect_loopback_works(load_verbs());
  });
}

TEST(InProcess, MisspeltVariableIsNamedOnce) {
  in_child([] {
    ::setenv("SOFTNIC_FAULT", "vanish", 1);
    testing::internal::CaptureStderr();
    const Softnic softnic;
    softnic.must_activate();
    const Verbs verbs = load_verbs();
    expect_loopback_works(verbs);
    EXPECT_EQ(softnic.deactivate(), SOFTNIC_OK);
    softnic.must_activate();
    const std::string told = testing::internal::GetCapturedStderr();
    const auto first = told.find("softnic: SOFTNIC_FAULT is no variable of the softnic");
    ASSERT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("is no variable", first + 50), std::string::npos) << told;
  });
}

TEST(InProcess, OptionsOfAnOlderProgramAreShorter) {
  in_child([] {
    softnic_options options = SOFTNIC_OPTIONS_INIT;
    options.size = offsetof(softnic_options, faults);
    options.faults = "not read";
    Softnic().must_activate(&options);
  });
}

TEST(InProcess, DeactivationGivesEverythingBack) {
  in_child([] {
    const Softnic softnic;
    EXPECT_EQ(softnic.deactivate(), SOFTNIC_NOT_ACTIVE);
    const softnic_options options = options_for_this_test();
    softnic.must_activate(&options);
    const Verbs verbs = load_verbs();
    {
      Endpoint endpoint(verbs);
      EXPECT_TRUE(until([] { return engine_threads() == 1; }));
      EXPECT_EQ(own_sockets_of_fabrics(), 1u);
      EXPECT_EQ(softnic.deactivate(), SOFTNIC_BUSY);
      EXPECT_STREQ(softnic.error(), "softnic: the device is open 1 times");
    }
    EXPECT_EQ(softnic.deactivate(), SOFTNIC_OK);
    // The kernel still lists a thread for a moment after its join.
    EXPECT_TRUE(until([] { return engine_threads() == 0; }));
    EXPECT_EQ(own_sockets_of_fabrics(), 0u);
    EXPECT_EQ(::getenv("SYSFS_PATH"), nullptr);
    ibv_device** list = verbs.ibv_get_device_list(nullptr);
    if (list && list[0]) EXPECT_EQ(verbs.ibv_open_device(list[0]), nullptr);
    verbs.ibv_free_device_list(list);
    softnic.must_activate(&options);
    expect_loopback_works(verbs);
  });
}

namespace {

namespace fs = std::filesystem;

// "-rdmav34.so", or the suffix of a provider's name in this release of libibverbs.
std::string provider_suffix() {
  for (const auto& entry : fs::directory_iterator(SOFTNIC_PROVIDERS)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libmlx5-rdmav")) return name.substr(std::strlen("libmlx5"));
  }
  throw std::runtime_error("no libmlx5-rdmav*.so in " SOFTNIC_PROVIDERS);
}

// A device that no loaded provider supports: libibverbs looks for one that does.
void write_tree_of_unknown_device(const fs::path& tree) {
  fs::copy(fs::path(SOFTNIC_LIBRARY).parent_path() / "softnic.sysfs/infiniband", tree,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  std::ofstream(tree / "class/infiniband/mlx5_0/device/modalias") << "pci:v0000DEADd0000BEEFsv*\n";
}

}  // namespace

// A library by the name of a provider, loaded by libibverbs itself after activation, calls open().
TEST(InProcess, ProvidersLoadedLaterAreAttachedToo) {
  in_child([] {
    const Folder folder;
    const fs::path provider = folder.path / ("libmlx5" + provider_suffix());
    fs::copy_file(SOFTNIC_PROBE, provider);
    write_tree_of_unknown_device(folder.path / "sys");
    ::setenv("SYSFS_PATH", (folder.path / "sys").c_str(), 1);
    ::setenv("RDMAV_DRIVERS", (folder.path / "libmlx5").c_str(), 1);
    Softnic().must_activate();
    device_names(load_verbs());
    void* loaded = ::dlopen(provider.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(loaded, nullptr) << "libibverbs did not load " << provider;
    const auto opens = reinterpret_cast<int (*)()>(::dlsym(loaded, "probe_opens_device"));
    EXPECT_EQ(opens(), 1);
  });
}
