#include "bootstrap/tcp.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "bootstrap/hub.hpp"
#include "bootstrap/hub_client.hpp"

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kIdVersion = chimex_uniqueid_t CHIMEX_UNIQUEID_INITIALIZER.version;
constexpr std::size_t kMaxAddresses = 8;
constexpr std::chrono::milliseconds kFirstPause{2};  // between two rounds over the addresses
constexpr std::chrono::milliseconds kLongestPause{200};
constexpr std::chrono::seconds kConnectTimeout{3};  // for one address, when there are others
constexpr std::chrono::seconds kHelloAnswerTimeout{5};
constexpr std::chrono::seconds kIdleLimit{60};  // for PEs that finalize and initialise again

// What an id holds. IPv4 addresses in network order, in the order to try.
struct IdContent {
  Token token;
  std::uint16_t port;
  std::uint8_t n_addresses;
  std::uint8_t reserved;
  std::uint32_t addresses[kMaxAddresses];
};
static_assert(sizeof(IdContent) <= sizeof(chimex_uniqueid_t::internal));

struct Interface {
  std::string name;
  in_addr address;
  bool is_loopback;
};

std::vector<Interface> interfaces_that_are_up() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list)) throw BootstrapError(std::string("getifaddrs: ") + std::strerror(errno));
  std::vector<Interface> found;
  for (const ifaddrs* i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP)) continue;
    found.push_back({i->ifa_name, reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr,
                     (i->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(list);
  // PEs of other machines need a real address first; loopback serves where there is no other.
  std::stable_partition(found.begin(), found.end(),
                        [](const Interface& i) { return !i.is_loopback; });
  return found;
}

std::vector<Interface> interfaces_to_offer(const std::string& wanted) {
  auto found = interfaces_that_are_up();
  std::string names;
  for (const auto& i : found) names += (names.empty() ? "" : ", ") + i.name;
  if (!wanted.empty()) std::erase_if(found, [&](const Interface& i) { return i.name != wanted; });
  if (found.size() > kMaxAddresses) found.resize(kMaxAddresses);
  if (!found.empty()) return found;
  throw BootstrapError(
      wanted.empty() ? "no network interface with an IPv4 address is up, not even lo"
                     : "CHIME_BOOTSTRAP_IF=" + wanted +
                           ": no such interface is up with an IPv4 address; there are: " + names);
}

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = address;
  result.sin_port = htons(port);
  return result;
}

struct Listener {
  FileDescriptor fd;
  std::uint16_t port;
};

Listener listen_on(std::uint32_t address) {
  FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto where = socket_address(address, 0);
  socklen_t length = sizeof where;
  if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&where), length) ||
      listen(fd.get(), SOMAXCONN) ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&where), &length))
    throw BootstrapError(std::string("cannot listen for PEs: ") + std::strerror(errno));
  return {std::move(fd), ntohs(where.sin_port)};
}

// Hubs of this process, for its ids. Destroyed with the process; a hub whose PEs have all left has
// stopped serving. A child of fork() has the list but none of the hubs' threads, and leaves them.
class Hubs {
 public:
  ~Hubs() {
    if (process_ == ::getpid()) delete hubs_;
  }

  static void add(FileDescriptor listener, Hub::Options options) {
    static Hubs hubs;
    std::lock_guard lock(hubs.mutex_);
    hubs.hubs_->emplace_back(std::move(listener), std::move(options));
  }

 private:
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::list<Hub>* const hubs_ = new std::list<Hub>;
};

IdContent content_of(const chimex_uniqueid_t& id) {
  IdContent content;
  std::memcpy(&content, id.internal, sizeof content);
  if (id.version != kIdVersion || content.n_addresses == 0 || content.n_addresses > kMaxAddresses)
    throw BootstrapError(
        "this is not a unique id of this Chime version: get one from chimex_get_uniqueid and pass "
        "all of its bytes",
        CHIMEX_ERR_INVALID);
  return content;
}

std::string text_of(std::uint32_t address, std::uint16_t port) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return std::string(text) + ":" + std::to_string(port);
}

// Empty, with `why`, if nobody accepts before `deadline`.
FileDescriptor connect_to(std::uint32_t address, std::uint16_t port, Deadline deadline,
                          std::string& why) {
  FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto where = socket_address(address, port);
  int error =
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) ? errno : 0;
  if (error == EINPROGRESS) {
    pollfd ready{fd.get(), POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    socklen_t length = sizeof error;
    if (poll(&ready, 1, static_cast<int>(std::max<long long>(left, 0))) <= 0)
      error = ETIMEDOUT;
    else
      getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error) {
    why = std::strerror(error);
    return {};
  }
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

class Joining {
 public:
  Joining(const chimex_uniqueid_t& id, int pe, int n_pes, const Settings& settings)
      : id_(content_of(id)),
        pe_(pe),
        n_pes_(n_pes),
        settings_(settings),
        deadline_(Clock::now() + settings.timeout) {}

  std::unique_ptr<Bootstrap> join() {
    for (auto pause = kFirstPause;;
         pause = std::min(2 * pause, std::chrono::milliseconds(kLongestPause))) {
      std::string tried;
      for (int i = 0; i < id_.n_addresses; i++)
        if (auto joined = try_address(id_.addresses[i], tried)) return joined;
      if (Clock::now() + pause >= deadline_)
        throw BootstrapError("cannot join the job of the unique id as PE " + std::to_string(pe_) +
                                 ": " + tried +
                                 " (is the process that made the id still alive, and "
                                 "CHIME_BOOTSTRAP_IF right there?)",
                             CHIMEX_ERR_TIMEOUT);
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  // Null, after a note in `tried`, if the rendezvous is not there.
  std::unique_ptr<Bootstrap> try_address(std::uint32_t address, std::string& tried) const {
    const auto name = text_of(address, id_.port);
    std::string why;
    auto fd =
        connect_to(address, id_.port, std::min(deadline_, Clock::now() + kConnectTimeout), why);
    if (!fd) {
      tried += (tried.empty() ? "" : "; ") + name + ": " + why;
      return nullptr;
    }
    try {
      HubClient::Options options;
      options.token = id_.token;
      options.pe = pe_;
      options.n_pes = n_pes_;
      options.timeout = settings_.timeout;
      options.means = "unique id";
      options.hub_name = "the rendezvous at " + name;
      options.ends_when_aborted = true;
      return std::make_unique<HubClient>(std::move(fd), std::move(options),
                                         std::min(deadline_, Clock::now() + kHelloAnswerTimeout));
    } catch (const HubRefusal&) {
      throw;  // it is the right hub, and it will not change its mind
    } catch (const BootstrapError& e) {
      tried += (tried.empty() ? "" : "; ") + std::string(e.what());
      return nullptr;
    }
  }

  const IdContent id_;
  const int pe_, n_pes_;
  const Settings& settings_;
  const Deadline deadline_;
};

}  // namespace

chimex_uniqueid_t create_unique_id(const std::string& interface) {
  const auto offered = interfaces_to_offer(interface);
  auto listener = listen_on(interface.empty() ? INADDR_ANY : offered[0].address.s_addr);
  IdContent content{};
  content.token = random_token();
  content.port = listener.port;
  for (const auto& i : offered) content.addresses[content.n_addresses++] = i.address.s_addr;
  if (!interface.empty()) content.n_addresses = 1;

  Hub::Options options{.token = content.token, .idle_limit = kIdleLimit, .aborted = {}, .log = {}};
  options.log = [](const std::string& text) {
    std::fprintf(stderr, "chime: unique id's rendezvous: %s\n", text.c_str());
  };
  Hubs::add(std::move(listener.fd), std::move(options));

  chimex_uniqueid_t id{};
  id.version = kIdVersion;
  std::memcpy(id.internal, &content, sizeof content);
  return id;
}

std::unique_ptr<Bootstrap> join_unique_id(const chimex_uniqueid_t& id, int pe, int n_pes,
                                          const Settings& settings) {
  if (n_pes < 1 || pe < 0 || pe >= n_pes)
    throw BootstrapError(
        "there is no PE " + std::to_string(pe) + " in a job of " + std::to_string(n_pes),
        CHIMEX_ERR_INVALID);
  return Joining(id, pe, n_pes, settings).join();
}

}  // namespace chime::bootstrap
