#include "net/mesh/gate.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

// Bounded, so that connections that were let in are read before the next are accepted.
constexpr int kAcceptsARound = 32;
// Without it a reactor would spin on a listener that it cannot serve.
constexpr std::chrono::milliseconds kNoDescriptorsPause{20};

}  // namespace

Gate::Gate(Reactor& reactor, std::vector<Descriptor> listeners, Options options, Admit admit)
    : reactor_(reactor), options_(std::move(options)), admit_(std::move(admit)) {
  for (Descriptor& listener : listeners) {
    doors_.push_back({std::move(listener)});
    open(doors_.back());
  }
}

Gate::~Gate() {
  *is_alive_ = false;
  for (const auto& stranger : strangers_) stranger->close();
  for (const Door& door : doors_) reactor_.forget(door.watch);
}

void Gate::log_refusal(const std::string& peer, const std::string& why) {
  if (std::exchange(has_logged_, true) || !options_.log) return;
  options_.log("refused a connection from " + peer + ": " + why +
               " (further ones are not reported)");
}

void Gate::open(Door& door) {
  door.watch = reactor_.watch(door.socket.get(), EPOLLIN,
                              [this, &door](std::uint32_t) { accept_some(door); });
}

void Gate::pause(Door& door) {
  reactor_.forget(door.watch);
  reactor_.at(Clock::now() + kNoDescriptorsPause, [this, &door, is_alive = is_alive_] {
    if (*is_alive) open(door);
  });
}

void Gate::accept_some(Door& door) {
  for (int i = 0; i < kAcceptsARound; ++i) {
    Descriptor socket = accept_at(door.socket);
    if (!socket && (errno == EMFILE || errno == ENFILE)) return pause(door);
    if (!socket) return;
    greet(std::move(socket));
  }
}

void Gate::greet(Descriptor socket) {
  if (!may_be_of_this_job(socket))
    return log_refusal(peer_of(socket).text(), "it belongs to another user");
  if (options_.silence.count() > 0) end_after_silence(socket, options_.silence);
  make_room();
  strangers_.push_back(
      Connection::start(reactor_, *this, std::move(socket),
                        SecureChannel::server(options_.credentials, options_.pe, options_.limits),
                        Clock::now() + options_.patience));
}

void Gate::make_room() {
  if (strangers_.size() < options_.max_strangers) return;
  const auto oldest = strangers_.front();
  strangers_.pop_front();
  oldest->close();
  log_refusal(oldest->peer(), "too many connections without a token");
}

std::shared_ptr<Connection> Gate::take(Connection& stranger) {
  auto connection = stranger.shared_from_this();
  strangers_.remove(connection);
  return connection;
}

void Gate::on_proven(Connection& connection) { admit_(take(connection)); }

void Gate::on_end(Connection& connection, const Error& why) {
  const auto ended = take(connection);
  if (options_.some_leave && why.fault() == Fault::kClosed) return;
  log_refusal(ended->peer(), why.what());
}

}  // namespace chime::net
