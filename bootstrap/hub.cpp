#include "bootstrap/hub.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "bootstrap/hub_connection.hpp"
#include "bootstrap/hub_session.hpp"
#include "bootstrap/wire.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {
namespace {

constexpr std::size_t kMaxStrangers = 256;  // connections that have not proved the token yet
constexpr std::chrono::milliseconds kNoDescriptorsPause{20};  // or poll would spin on the listener
constexpr int kClockCheckMs = 500;
constexpr int kMaxPes = 1 << 20;
constexpr std::chrono::seconds kFlushTimeout{1};  // for last answers when the hub ends

using Clock = std::chrono::steady_clock;

}  // namespace

class Hub::Server {
 public:
  Server(FileDescriptor listener, Options options)
      : options_(std::move(options)),
        listener_(std::move(listener)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    fcntl(listener_.get(), F_SETFL, fcntl(listener_.get(), F_GETFL) | O_NONBLOCK);
    if (options_.n_pes) joinings_.resize(options_.n_pes), ended_.resize(options_.n_pes);
    thread_ = abi::start_thread([this] { serve(); });
  }

  ~Server() {
    {
      std::lock_guard lock(mutex_);
      must_stop_ = true;
    }
    wake();
    thread_.join();
  }

  void tell_lost(int pe, std::string why) {
    {
      std::lock_guard lock(mutex_);
      news_.emplace_back(pe, std::move(why));
    }
    wake();
  }

  void ask_activity(std::function<void()> said) {
    {
      std::lock_guard lock(mutex_);
      question_ = std::move(said);
    }
    wake();
  }

 private:
  void serve();
  void wait_for_work(int at_most_ms);
  bool take_news();
  void ask_members(std::function<void()> said);
  void note_answers();
  void accept_all();
  void greet(FileDescriptor fd);
  void drop_strangers_that_are_late();
  void read_from(Connection& c);
  void handle(Connection& c, Bytes message);
  void hear_hello(Connection& c, MessageReader& hello);
  void hear_member(Connection& c, MessageReader& message);
  void abort(const Connection& c, MessageReader& message);
  std::string why_refused(int pe, int n_pes);
  void add_member(Connection& c, int pe, std::string node);
  HubSession& open_session(std::size_t number);
  void end(Connection& c, const std::string& why);
  void lose_in_all_sessions(int pe, const std::string& why);
  void flush_last_answers();
  bool has_been_idle_too_long();
  void refuse_stranger(Connection& c, const std::string& why);
  void wake() { eventfd_write(wake_.get(), 1); }
  void clear_wake() {
    eventfd_t count;
    eventfd_read(wake_.get(), &count);
  }

  Options options_;
  FileDescriptor listener_;
  FileDescriptor wake_;

  // Shared with the callers of tell_lost and the destructor.
  std::mutex mutex_;
  bool must_stop_ = false;
  std::vector<std::pair<int, std::string>> news_;
  std::function<void()> question_;

  // The thread's own.
  std::list<Connection> connections_;
  std::vector<std::size_t> joinings_;  // [pe] how often it has joined
  std::vector<std::string> ended_;     // [pe] why it will never join again; empty if it may
  std::vector<std::unique_ptr<HubSession>> sessions_;
  std::vector<pollfd> polled_;
  std::function<void()> said_;  // to be called when nobody is asked any more
  bool has_told_of_strangers_ = false;
  std::optional<Clock::time_point> idle_since_;
  std::thread thread_;
};

Hub::Hub(FileDescriptor listener, Options options)
    : server_(std::make_unique<Server>(std::move(listener), std::move(options))) {}
Hub::~Hub() = default;
void Hub::tell_lost(int pe, std::string why) { server_->tell_lost(pe, std::move(why)); }
void Hub::ask_activity(std::function<void()> said) { server_->ask_activity(std::move(said)); }

void Hub::Server::serve() {
  while (take_news()) {
    wait_for_work(kClockCheckMs);
    drop_strangers_that_are_late();
    connections_.remove_if([](const Connection& c) { return c.is_over; });
    note_answers();
    if (has_been_idle_too_long()) break;
  }
  flush_last_answers();
  connections_.clear();
  listener_.reset();
}

// Returns false when the owner ends the hub. The wake is cleared before the owner's words are read,
// and nowhere else: what the owner says later wakes the next wait_for_work().
bool Hub::Server::take_news() {
  clear_wake();
  std::vector<std::pair<int, std::string>> news;
  std::function<void()> question;
  {
    std::lock_guard lock(mutex_);
    if (must_stop_) return false;
    news.swap(news_);
    question.swap(question_);
  }
  if (!news.empty())
    wait_for_work(0);  // its goodbye, if it said one, came before the news of its end
  for (auto& [pe, why] : news) lose_in_all_sessions(pe, why);
  if (question) ask_members(std::move(question));
  return true;
}

void Hub::Server::ask_members(std::function<void()> said) {
  said_ = std::move(said);
  for (Connection& c : connections_) {
    if (c.pe < 0) continue;
    c.is_asked = true;
    c.send(MessageWriter(Message::kAskActivity).take());
  }
  note_answers();
}

void Hub::Server::note_answers() {
  const auto is_awaited = [](const Connection& c) { return c.is_asked && !c.is_over; };
  if (!said_ || std::any_of(connections_.begin(), connections_.end(), is_awaited)) return;
  std::exchange(said_, nullptr)();
}

// For ever while no clock runs.
void Hub::Server::wait_for_work(int at_most_ms) {
  polled_.clear();
  polled_.push_back({wake_.get(), POLLIN, 0});
  polled_.push_back({listener_.get(), POLLIN, 0});
  bool has_clock = idle_since_.has_value();
  for (const Connection& c : connections_) {
    polled_.push_back(
        {c.fd.get(), static_cast<short>(POLLIN | (c.output.empty() ? 0 : POLLOUT)), 0});
    has_clock |= c.pe < 0;
  }
  poll(polled_.data(), polled_.size(), at_most_ms == 0 || has_clock ? at_most_ms : -1);

  auto ready = polled_.begin() + 2;
  for (Connection& c : connections_) {
    if (ready->revents & POLLOUT) c.write_some();
    if (ready->revents & ~POLLOUT) read_from(c);
    ++ready;
  }
  if (polled_[1].revents) accept_all();
}

void Hub::Server::accept_all() {
  for (;;) {
    FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && (errno == EMFILE || errno == ENFILE))
      std::this_thread::sleep_for(kNoDescriptorsPause);
    if (!fd) return;
    greet(std::move(fd));
  }
}

void Hub::Server::greet(FileDescriptor fd) {
  Connection c;
  c.fd = std::move(fd);
  c.from = name_of_peer(c.fd.get());
  if (is_of_another_user(c.fd.get())) return refuse_stranger(c, "it belongs to another user");
  const int yes = 1;
  setsockopt(c.fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes,
             sizeof yes);  // fails on a unix socket: no delay there
  c.nonce = random_token();
  c.hello_by = Clock::now() + kHelloTimeout;
  connections_.push_back(std::move(c));
  auto& added = connections_.back();
  added.send(MessageWriter(Message::kChallenge).put(kWireVersion).put(added.nonce).take());
}

void Hub::Server::drop_strangers_that_are_late() {
  const auto now = Clock::now();
  auto is_stranger = [](const Connection& c) { return c.pe < 0 && !c.is_over; };
  auto strangers = std::count_if(connections_.begin(), connections_.end(), is_stranger);
  for (Connection& c : connections_) {
    if (!is_stranger(c)) continue;
    const bool are_too_many = strangers > static_cast<std::ptrdiff_t>(kMaxStrangers);
    if (!are_too_many && c.hello_by > now) continue;
    refuse_stranger(
        c, are_too_many ? "too many connections without a token" : "it sent no token in time");
    strangers--;
  }
}

// Says so once: a port scanner must not fill the log.
void Hub::Server::refuse_stranger(Connection& c, const std::string& why) {
  c.is_over = true;
  if (has_told_of_strangers_) return;
  has_told_of_strangers_ = true;
  if (options_.log)
    options_.log("refused a connection from " + c.from + ": " + why +
                 " (further ones are not reported)");
}

void Hub::Server::read_from(Connection& c) {
  std::byte buffer[16384];
  while (!c.is_over) {
    const auto got = recv(c.fd.get(), buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return end(c, "its connection to the job's hub closed without chime_finalize");
    c.input.add({buffer, static_cast<std::size_t>(got)});
    try {
      while (!c.is_over) {
        auto message = c.input.next(c.pe < 0 ? kMaxHelloBytes : kMaxMessageBytes);
        if (!message) break;
        handle(c, std::move(*message));
      }
    } catch (const BootstrapError& e) {
      end(c, std::string("it sent what is not Chime's protocol: ") + e.what());
    }
  }
}

void Hub::Server::handle(Connection& c, Bytes bytes) {
  MessageReader message(std::move(bytes));
  if (c.pe >= 0) return hear_member(c, message);
  if (message.type() != Message::kHello) throw BootstrapError("no hello");
  hear_hello(c, message);
}

void Hub::Server::hear_hello(Connection& c, MessageReader& hello) {
  const auto pe = hello.get<std::int32_t>();
  const auto n_pes = hello.get<std::int32_t>();
  const auto nonce = hello.get<Token>();
  auto node = hello.text();
  const auto proof = hello.get<Digest>();
  if (!equal_in_constant_time(proof, pe_proof(options_.token, c.nonce, nonce, pe, n_pes)))
    return refuse_stranger(c, "wrong token");
  if (auto why = why_refused(pe, n_pes); !why.empty()) {
    c.send(MessageWriter(Message::kRefused)
               .put(hub_proof(options_.token, c.nonce, nonce))
               .text(why)
               .take());
    c.is_over = true;
    return;
  }
  c.send(MessageWriter(Message::kWelcome).put(hub_proof(options_.token, c.nonce, nonce)).take());
  add_member(c, pe, std::move(node));
}

// Empty if `pe` may join.
std::string Hub::Server::why_refused(int pe, int n_pes) {
  if (n_pes < 1 || n_pes > kMaxPes) return "a job cannot have " + std::to_string(n_pes) + " PEs";
  if (joinings_.empty()) joinings_.resize(n_pes), ended_.resize(n_pes);
  if (n_pes != static_cast<int>(joinings_.size()))
    return "it says that the job has " + std::to_string(n_pes) + " PEs, but the job has " +
           std::to_string(joinings_.size());
  if (pe < 0 || pe >= n_pes)
    return "there is no PE " + std::to_string(pe) + " in a job of " + std::to_string(n_pes);
  for (const Connection& c : connections_)
    if (c.pe == pe && !c.is_over) return "PE " + std::to_string(pe) + " is in the job already";
  return "";
}

void Hub::Server::add_member(Connection& c, int pe, std::string node) {
  c.pe = pe;
  c.session = joinings_[pe]++;
  open_session(c.session).join(pe, std::move(node));
}

HubSession& Hub::Server::open_session(std::size_t number) {
  while (sessions_.size() <= number) {
    auto send_to = [this, session = sessions_.size()](int pe, Bytes message) {
      for (Connection& c : connections_)
        if (c.pe == pe && c.session == session && !c.is_over) return c.send(message);
    };
    sessions_.push_back(std::make_unique<HubSession>(static_cast<int>(joinings_.size()), send_to));
    for (std::size_t pe = 0; pe < ended_.size(); pe++)
      if (!ended_[pe].empty()) sessions_.back()->lose(static_cast<int>(pe), ended_[pe]);
  }
  return *sessions_[number];
}

void Hub::Server::hear_member(Connection& c, MessageReader& message) {
  if (message.type() == Message::kAbort) return abort(c, message);
  if (message.type() == Message::kToldActivity) {
    c.is_asked = false;
    return;
  }
  if (message.type() != Message::kGoodbye) return sessions_[c.session]->handle(c.pe, message);
  sessions_[c.session]->leave(c.pe);
  c.is_over = true;
}

void Hub::Server::abort(const Connection& c, MessageReader& message) {
  const auto code = message.get<std::int32_t>();
  const auto why = message.text();
  for (Connection& other : connections_)
    if (other.pe >= 0 && other.session == c.session && &other != &c)
      other.send(
          MessageWriter(Message::kAborted).put<std::int32_t>(c.pe).put(code).text(why).take());
  if (options_.aborted) options_.aborted(c.pe, code, why);
}

void Hub::Server::end(Connection& c, const std::string& why) {
  if (c.pe < 0) return refuse_stranger(c, why);
  c.is_over = true;
  sessions_[c.session]->lose(c.pe, why);
}

// Also sessions that `pe` has not joined: nobody should wait for it there.
void Hub::Server::lose_in_all_sessions(int pe, const std::string& why) {
  if (ended_.empty()) return;  // nobody has joined: the number of PEs is not known
  ended_[pe] = why;
  open_session(0);
  for (auto& session : sessions_) session->lose(pe, why);
}

bool Hub::Server::has_been_idle_too_long() {
  const bool has_members = std::any_of(connections_.begin(), connections_.end(),
                                       [](const Connection& c) { return c.pe >= 0; });
  if (options_.idle_limit.count() == 0 || sessions_.empty() || !sessions_.front()->is_over() ||
      has_members) {
    idle_since_.reset();
    return false;
  }
  if (!idle_since_) idle_since_ = Clock::now();
  return Clock::now() - *idle_since_ > options_.idle_limit;
}

void Hub::Server::flush_last_answers() {
  const auto end = Clock::now() + kFlushTimeout;
  for (Connection& c : connections_) {
    while (!c.output.empty() && Clock::now() < end) {
      pollfd ready{c.fd.get(), POLLOUT, 0};
      poll(&ready, 1, 50);
      c.write_some();
    }
  }
}

}  // namespace chime::bootstrap
