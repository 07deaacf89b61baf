// These cannot reach a job's link: another user, another fabric, a process with the wrong hello.
// The attacker below has every advantage: it runs the link's own code, and has the sockets' names.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "softnic/wire/link.hpp"
#include "softnic/wire/ring.hpp"

namespace {
constexpr uid_t kNobody = 65534;
std::optional<uid_t> pretended;  // the user that the link's code in this process sees
}  // namespace

// The link computes names and compares users with it.
extern "C" uid_t geteuid() noexcept {
  uid_t real, effective, saved;
  ::getresuid(&real, &effective, &saved);
  return pretended.value_or(effective);
}

namespace {

using softnic::Link;
using softnic::PacketHeader;
using softnic::PacketKind;
using softnic::Reach;
using softnic::Ring;

const std::string& fabric() {
  static const std::string name = "isolation-" + std::to_string(::getpid());
  return name;
}

PacketHeader packet() {
  PacketHeader header;
  header.payload = 0;
  header.sequence = 4711;
  return header;
}

bool send_to(Link& link, std::uint32_t nic) {
  std::byte* payload;
  if (link.begin(nic, 0, &payload) != Reach::kReady) return false;
  link.commit(packet());
  return true;
}

unsigned received(Link& link) {
  link.housekeeping();
  return link.poll(
      [](const PacketHeader& header, const std::byte*) { EXPECT_EQ(header.sequence, 4711u); }, 64);
}

// Packets that arrive at `link` until `attacker` has ended, and a little later.
unsigned received_while(Link& link, pid_t attacker) {
  unsigned packets = 0;
  int status = -1;
  while (::waitpid(attacker, &status, WNOHANG) == 0) packets += received(link);
  for (int i = 0; i < 10; ++i) packets += received(link);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
  return packets;
}

pid_t start(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  return child;
}

void become_nobody() {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0)
    ::_exit(3);
}

// ---- the messages of the link, as in shared_memory_link.cpp ----

struct Hello {
  std::uint32_t magic = 0x534e4943;
  std::uint32_t address = 77;
  char fabric[128] = {};
};
// Two rings (ring.hpp).
constexpr std::size_t kPairBytes = 2 * sizeof(Ring::Shared);

sockaddr_un name_of(std::uint32_t nic, socklen_t& length) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const unsigned char c : fabric()) hash = (hash ^ c) * 0x100000001b3ull;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                  std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                                "softnic/%u/%016llx/%u", ::geteuid(),
                                                static_cast<unsigned long long>(hash), nic));
  return name;
}

int connect_to(std::uint32_t nic) {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  socklen_t length;
  const sockaddr_un name = name_of(nic, length);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&name), length) == 0) return socket;
  ADD_FAILURE() << "connect: " << std::strerror(errno);
  ::close(socket);
  return -1;
}

int memory_of(std::size_t bytes, int seals) {
  const int memfd = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (::ftruncate(memfd, static_cast<off_t>(bytes)) != 0 || ::fcntl(memfd, F_ADD_SEALS, seals) != 0)
    ADD_FAILURE() << std::strerror(errno);
  return memfd;
}

void say(int socket, const void* words, std::size_t bytes, int memfd) {
  iovec data{const_cast<void*>(words), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (memfd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &memfd, sizeof memfd);
  }
  EXPECT_EQ(::sendmsg(socket, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
}

// Whether `link` keeps a connection with this hello.
bool is_kept(Link& link, const void* words, std::size_t bytes, int memfd) {
  const int socket = connect_to(link.address());
  if (socket < 0) return false;
  if (bytes) say(socket, words, bytes, memfd);
  for (int i = 0; i < 4; ++i) link.housekeeping();
  char byte;
  const bool kept = ::recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  ::close(socket);
  if (memfd >= 0) ::close(memfd);
  link.housekeeping();
  return kept;
}

Hello right_hello() {
  Hello hello;
  fabric().copy(hello.fabric, sizeof hello.fabric - 1);
  return hello;
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

TEST(Isolation, SameUserAndFabricIsReached) {
  const auto link = softnic::make_shared_memory_link(fabric());
  const auto nic = link->address();
  EXPECT_EQ(received_while(*link, start([&] {
              return send_to(*softnic::make_shared_memory_link(fabric()), nic);
            })),
            1u);
}

TEST(Isolation, AnotherFabricIsNotReached) {
  const auto link = softnic::make_shared_memory_link(fabric());
  const auto nic = link->address();
  EXPECT_EQ(received_while(*link, start([&] {
              // Its own NIC may have this address too: the attacker tries every other one.
              const auto other = softnic::make_shared_memory_link(fabric() + "x");
              return other->address() == nic ? !send_to(*other, nic + 1) : !send_to(*other, nic);
            })),
            0u);
}

TEST(Isolation, AnotherUserIsNotReached) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto link = softnic::make_shared_memory_link(fabric());
  const auto nic = link->address();
  EXPECT_EQ(received_while(*link, start([&] {
              become_nobody();
              return !send_to(*softnic::make_shared_memory_link(fabric()), nic + 1);
            })),
            0u);
}

// It uses this user's names, and sends the packets of a neighbour.
TEST(Isolation, AnotherUserWithOurNamesIsRefused) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto link = softnic::make_shared_memory_link(fabric());
  const auto nic = link->address();
  EXPECT_EQ(received_while(*link, start([&] {
              become_nobody();
              pretended = 0;
              const auto attacker = softnic::make_shared_memory_link(fabric());
              return attacker->address() != nic && (send_to(*attacker, nic), true);
            })),
            0u);
  EXPECT_EQ(received_while(*link, start([&] {  // and the link goes on
              return send_to(*softnic::make_shared_memory_link(fabric()), nic);
            })),
            1u);
}

// Any user can take a name in the abstract namespace. A link never connects to the wrong user.
TEST(Isolation, AnotherUserInOurPlaceIsNotTalkedTo) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become another user";
  int told[2], stop[2];
  ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(stop, O_CLOEXEC), 0);
  const pid_t squatter = start([&] {
    become_nobody();
    ::close(stop[1]);
    pretended = 0;
    const auto link = softnic::make_shared_memory_link(fabric());
    const std::uint32_t address = link->address();
    if (::write(told[1], &address, sizeof address) != sizeof address) return false;
    char end;
    return ::read(stop[0], &end, 1) == 0 && received(*link) == 0;
  });
  std::uint32_t taken = 0;
  ASSERT_EQ(::read(told[0], &taken, sizeof taken), static_cast<ssize_t>(sizeof taken));
  const auto link = softnic::make_shared_memory_link(fabric());
  EXPECT_NE(link->address(), taken);
  EXPECT_FALSE(send_to(*link, taken));
  EXPECT_FALSE(link->is_alive(taken));
  ::close(stop[1]);
  EXPECT_EQ(received_while(*link, squatter), 0u);
  for (const int fd : {told[0], told[1], stop[0]}) ::close(fd);
}

TEST(Isolation, OnlyARightHelloIsAccepted) {
  const auto link = softnic::make_shared_memory_link(fabric());
  const Hello right = right_hello();
  Hello wrong_magic = right, wrong_fabric = right, prefix = right, no_address = right;
  Hello large_address = right, endless = right;
  wrong_magic.magic ^= 1;
  wrong_fabric.fabric[0] ^= 1;
  prefix.fabric[fabric().size() - 1] = 0;
  no_address.address = 0;
  large_address.address = 4096;
  std::memset(endless.fabric, 'x', sizeof endless.fabric);
  const auto memory = [] { return memory_of(kPairBytes, kSeals); };
  EXPECT_TRUE(is_kept(*link, &right, sizeof right, memory()));
  for (const Hello& wrong : {wrong_magic, wrong_fabric, prefix, no_address, large_address, endless})
    EXPECT_FALSE(is_kept(*link, &wrong, sizeof wrong, memory()));
  EXPECT_FALSE(is_kept(*link, &right, sizeof right - 1, memory()));
  EXPECT_FALSE(is_kept(*link, "hi", 2, memory()));
  EXPECT_FALSE(is_kept(*link, &right, sizeof right, -1)) << "no memory";
  EXPECT_FALSE(is_kept(*link, &right, sizeof right, memory_of(kPairBytes, 0))) << "not sealed";
  EXPECT_FALSE(is_kept(*link, &right, sizeof right, memory_of(kPairBytes / 2, kSeals)));
  EXPECT_FALSE(is_kept(*link, &right, sizeof right, ::open("/dev/null", O_RDWR | O_CLOEXEC)));
  EXPECT_TRUE(is_kept(*link, &right, sizeof right, memory()));
}

// ---- a neighbour that writes anything to its ring ----

struct Scribble {
  const char* name;
  std::function<void(Ring::Shared&)> write;
};

PacketHeader& record(Ring::Shared& ring, std::size_t at = 0) {
  return *new (ring.data + at) PacketHeader(packet());
}
Scribble one_record(const char* name, std::function<void(PacketHeader&)> change) {
  return {name, [change](Ring::Shared& ring) {
            change(record(ring));
            ring.produced = 64 * 1024;  // far behind it
          }};
}

const std::vector<Scribble>& scribbles() {
  constexpr std::uint32_t kSkip = ~0u;
  static const std::vector<Scribble> all = {
      one_record("PayloadBehindTheRing", [](PacketHeader& h) { h.payload = 0x7fffff00; }),
      one_record("PayloadTooLong", [](PacketHeader& h) { h.total = h.payload = (16 << 10) + 1; }),
      one_record("PayloadBehindTheMessage", [](PacketHeader& h) { h.total = 7, h.payload = 8; }),
      one_record("OffsetBehindTheMessage", [](PacketHeader& h) { h.offset = 1ull << 44; }),
      one_record("OffsetThatWraps",
                 [](PacketHeader& h) { h.total = 8, h.payload = 8, h.offset = ~0ull - 7; }),
      one_record("AtomicOfNoBytes", [](PacketHeader& h) { h.kind = PacketKind::kAtomic; }),
      one_record("AtomicOfManyBytes",
                 [](PacketHeader& h) { h.kind = PacketKind::kAtomic, h.atomic_bytes = 255; }),
      one_record("SkipBehindWhatIsProduced", [](PacketHeader& h) { h.payload = kSkip; }),
      {"RecordBehindWhatIsProduced",
       [](Ring::Shared& ring) {
         PacketHeader& header = record(ring);
         header.total = header.payload = 64;
         ring.produced = 128;
       }},
      {"PieceOfARecord", [](Ring::Shared& ring) { ring.produced = 1; }},
      {"MoreThanTheRingHolds", [](Ring::Shared& ring) { ring.produced = Ring::kBytes + 64; }},
      {"LessThanBefore", [](Ring::Shared& ring) { ring.produced = ~0ull - 63; }},
      {"OnlySkips",
       [](Ring::Shared& ring) {
         for (std::size_t at = 0; at < Ring::kBytes; at += 64) record(ring, at).payload = kSkip;
         ring.produced = Ring::kBytes;
       }},
      {"HeaderBehindTheRing",
       [](Ring::Shared& ring) {  // good records, the last of them cut off
         const std::size_t step = 16 * 1024 + 64;
         std::size_t at = 0;
         for (; at + step < Ring::kBytes - 64; at += step) {
           PacketHeader& header = record(ring, at);
           header.total = header.payload = 16 * 1024 - 32;
         }
         for (; at < Ring::kBytes - 64; at += 128) record(ring, at);
         record(ring, Ring::kBytes - 64);
         ring.produced = Ring::kBytes;
       }},
  };
  return all;
}

class Scribbles : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Neighbour, Scribbles, testing::Range<std::size_t>(0, scribbles().size()),
                         [](const auto& info) { return scribbles()[info.param].name; });

TEST_P(Scribbles, CloseItsConnectionAndDoNoHarm) {
  const auto link = softnic::make_shared_memory_link(fabric());
  const Hello hello = right_hello();
  const int memory = memory_of(kPairBytes, kSeals);
  void* const pair = ::mmap(nullptr, kPairBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  ASSERT_NE(pair, MAP_FAILED);
  const int socket = connect_to(link->address());
  say(socket, &hello, sizeof hello, memory);
  link->housekeeping();
  link->housekeeping();
  ASSERT_EQ(link->neighbours(), 1u);
  scribbles()[GetParam()].write(*static_cast<Ring::Shared*>(pair));
  testing::internal::CaptureStderr();
  const auto nothing = [](const PacketHeader&, const std::byte*) {};
  for (int i = 0; i < 4; ++i) link->poll(nothing, 64);
  EXPECT_EQ(link->neighbours(), 0u);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "softnic: NIC 77 has written to its ring what no NIC writes; the connection is closed\n");
  ::close(socket), ::close(memory), ::munmap(pair, kPairBytes);
}

TEST(Isolation, NothingIsLeftOfAKilledNic) {
  fabric();  // named for this process, not for the one that is killed
  std::string folder = std::filesystem::temp_directory_path() / "softnic-isolation-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  int told[2];
  ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
  const pid_t killed = start([&] {
    ::setenv("TMPDIR", folder.c_str(), 1);
    ::setenv("HOME", folder.c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
    if (::chdir(folder.c_str()) != 0) return false;
    const auto one = softnic::make_shared_memory_link(fabric());
    const auto two = softnic::make_shared_memory_link(fabric());
    if (!send_to(*one, two->address()) || ::write(told[1], "", 1) != 1) return false;
    for (;;) ::pause();
  });
  char started;
  ASSERT_EQ(::read(told[0], &started, 1), 1);
  ::kill(killed, SIGKILL);
  int status;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    EXPECT_EQ(entry.path().filename().string().find("softnic"), std::string::npos) << entry.path();
  socklen_t length;
  const sockaddr_un name = name_of(1, length);
  const int probe = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  EXPECT_NE(::connect(probe, reinterpret_cast<const sockaddr*>(&name), length), 0);
  ::close(probe);
  ::close(told[0]), ::close(told[1]);
}
