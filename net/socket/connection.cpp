#include "net/socket/connection.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "net/mesh/traffic.hpp"
#include "net/socket/error.hpp"

namespace chime::net {
namespace {

using State = SecureChannel::State;

constexpr int kReadsARound = 16;  // so that one busy sender does not delay the others
constexpr std::size_t kReadBytes = 16384;
// The user's processes have too many descriptors in flight between them: ETOOMANYREFS.
constexpr std::chrono::milliseconds kDescriptorsPause{2};

std::string words_of(int error) { return std::generic_category().message(error); }

// The kernel's reason for the end of a connection.
Error error_of(int error) {
  if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH)
    return Error(Fault::kTimeout, "its host does not answer any more: " + words_of(error));
  return Error(Fault::kClosed, words_of(error));
}

}  // namespace

Connection::Connection(Reactor& reactor, ConnectionOwner& owner, Descriptor socket,
                       SecureChannel channel)
    : reactor_(reactor),
      owner_(&owner),
      is_connecting_(channel.state() == State::kAwaitsChallenge),
      socket_(std::move(socket)),
      channel_(std::move(channel)) {}

// The last to let go may be a thread that was sending: then it is closed already.
Connection::~Connection() {
  if (!is_closed()) close();
}

std::shared_ptr<Connection> Connection::start(Reactor& reactor, ConnectionOwner& owner,
                                              Descriptor socket, SecureChannel channel,
                                              Deadline handshake_by) {
  const std::shared_ptr<Connection> connection(
      new Connection(reactor, owner, std::move(socket), std::move(channel)));
  connection->watch(handshake_by);
  return connection;
}

// The reactor holds it while it serves it, so that the owner may let go of it in any call.
void Connection::watch(Deadline handshake_by) {
  const std::weak_ptr<Connection> me = weak_from_this();
  peer_ = peer_of(socket_).text();
  waits_for_room_ = is_connecting_;
  watch_ = reactor_.watch(socket_.get(), EPOLLIN | (waits_for_room_ ? EPOLLOUT : 0u),
                          [me](std::uint32_t events) {
                            if (const auto self = me.lock()) self->on_ready(events);
                          });
  handshake_timer_ = reactor_.at(handshake_by, [me] {
    const auto self = me.lock();
    if (!self) return;
    self->handshake_timer_.reset();
    self->end(Error(Fault::kTimeout, "it did not answer in time"));
  });
  std::lock_guard lock(mutex_);
  queue_output();
}

void Connection::accept() {
  {
    std::lock_guard lock(mutex_);
    channel_.accept();
    queue_output();
  }
  reactor_.post([me = weak_from_this()] {  // a client may have sent on already
    if (const auto self = me.lock()) self->ending_on_error([&] { self->deliver_frames(); });
  });
}

void Connection::refuse(std::string_view why) {
  std::lock_guard lock(mutex_);
  channel_.refuse(why);
  queue_output();
  if (unsent_.empty()) give_up({Fault::kClosed, "refused: " + std::string(why)});
}

void Connection::send(std::span<const std::byte> payload, std::span<const int> descriptors) {
  std::lock_guard lock(mutex_);
  if (!socket_ || broken_) throw Error(Fault::kClosed, "the connection is over");
  channel_.send(payload);
  count_traffic(channel_.purpose(), {.messages = 1});
  queue_output(descriptors);
}

std::size_t Connection::unsent_bytes() const {
  std::lock_guard lock(mutex_);
  return unsent_bytes_;
}

std::vector<Descriptor> Connection::take_descriptors(std::size_t n) {
  if (received_.size() < n)
    throw Error(Fault::kProtocol, "a message comes without the descriptors that belong to it");
  std::vector<Descriptor> taken;
  for (; n > 0; --n) {
    taken.push_back(std::move(received_.front()));
    received_.pop_front();
  }
  return taken;
}

void Connection::close() {
  if (handshake_timer_) reactor_.cancel(*handshake_timer_);
  handshake_timer_.reset();
  reactor_.forget(watch_);
  std::lock_guard lock(mutex_);
  socket_.reset();
  unsent_.clear();
  unsent_bytes_ = 0;
}

bool Connection::is_open() const {
  std::lock_guard lock(mutex_);
  return socket_ && !broken_ && channel_.is_open();
}

bool Connection::is_closed() const {
  std::lock_guard lock(mutex_);
  return !socket_;
}

void Connection::on_ready(std::uint32_t events) {
  ending_on_error([&] {
    if (is_connecting_ && !is_connected()) return;
    if (events & EPOLLOUT) write_waiting();
    if (events & ~EPOLLOUT) read_some();
  });
}

void Connection::read_now() {
  const auto self = shared_from_this();
  ending_on_error([&] {
    if (!is_connecting_ && !is_closed()) read_some();
  });
}

// Throws if it never will be.
bool Connection::is_connected() {
  std::lock_guard lock(mutex_);
  if (const int error = connect_error(socket_))
    throw Error(error == ECONNREFUSED ? Fault::kNobody : Fault::kSystem, words_of(error));
  is_connecting_ = false;
  return true;
}

void Connection::read_some() {
  std::array<std::byte, kReadBytes> buffer;
  for (int i = 0; i < kReadsARound && !is_closed(); ++i) {
    const Transfer got = receive(buffer);
    if (got.error == EAGAIN) return;
    if (got.error == EMFILE)
      throw Error(Fault::kSystem,
                  "descriptors that it passed were lost: this process may open too few files "
                  "(ulimit -n)");
    if (got.bytes == 0) throw why_closed(got.error);
    take_in(std::span(buffer).first(got.bytes));
  }
}

Transfer Connection::receive(std::span<std::byte> buffer) {
  std::vector<Descriptor> descriptors;
  std::lock_guard lock(mutex_);
  const Transfer got = receive_some(socket_, buffer, &descriptors);
  for (Descriptor& descriptor : descriptors) received_.push_back(std::move(descriptor));
  return got;
}

// No process may leave descriptors in this one before the channel is open. The bytes that open it
// may come in one read with a message that has some.
void Connection::take_in(std::span<const std::byte> bytes) {
  State before, now;
  {
    std::lock_guard lock(mutex_);
    before = channel_.state();
    count_traffic(channel_.purpose(), {.bytes = bytes.size()});
    channel_.receive(bytes);
    now = channel_.state();
    if (!channel_.is_open()) received_.clear();
    queue_output();
  }
  if (before != now) tell_of_handshake(before, now);
  deliver_frames();
}

void Connection::tell_of_handshake(State, State now) {
  if (now != State::kProven && now != State::kOpen) return;
  if (handshake_timer_) reactor_.cancel(*handshake_timer_);
  handshake_timer_.reset();
  if (now == State::kProven)
    owner_->on_proven(*this);
  else
    owner_->on_open(*this);
}

void Connection::deliver_frames() {
  while (auto frame = next_frame()) owner_->on_frame(*this, std::move(*frame));
}

std::optional<Bytes> Connection::next_frame() {
  std::lock_guard lock(mutex_);
  auto frame = socket_ ? channel_.next_frame() : std::nullopt;
  if (frame) count_traffic(channel_.purpose(), {.messages = 1});
  return frame;
}

void Connection::write_waiting() {
  bool is_drained = false;
  {
    std::lock_guard lock(mutex_);
    if (!socket_) return;
    write_some();
    is_drained = unsent_.empty();
    if (is_drained && channel_.state() == State::kRefused) give_up({Fault::kClosed, "refused"});
  }
  if (is_drained) owner_->on_drained(*this);
}

Error Connection::why_closed(int error) const {
  std::lock_guard lock(mutex_);
  if (broken_) return *broken_;
  if (const Error said = error_of(error); said.fault() == Fault::kTimeout) return said;
  switch (channel_.state()) {
    case State::kAwaitsVerdict:
      return Error(Fault::kSecret, "closed the connection: wrong token, or the job has ended");
    case State::kAwaitsHello:
      return Error(Fault::kClosed, "it left before it had proved the token");
    default:
      return Error(Fault::kClosed, "closed the connection");
  }
}

void Connection::end(const Error& why) {
  if (is_closed()) return;
  close();
  owner_->on_end(*this, why);
}

template <class Step>
void Connection::ending_on_error(Step step) {
  try {
    step();
  } catch (const Error& error) {
    end(error);
  }
}

void Connection::queue_output(std::span<const int> descriptors) {
  auto bytes = channel_.take_output();
  if (bytes.empty() || !socket_) return;
  count_traffic(channel_.purpose(), {.bytes = bytes.size()});
  unsent_bytes_ += bytes.size();
  unsent_.push_back({std::move(bytes), 0, {descriptors.begin(), descriptors.end()}});
  if (unsent_bytes_ > kMaxUnsentBytes)
    return give_up({Fault::kClosed, "does not read what it is sent"});
  if (!waits_for_room_) write_some();
}

void Connection::write_some() {
  while (!unsent_.empty())
    if (!write_chunk()) return;
  ask_for_room(false);
}

// False: no more for now.
bool Connection::write_chunk() {
  Chunk& chunk = unsent_.front();
  const Transfer sent = send_some(socket_, std::span(chunk.bytes).subspan(chunk.sent),
                                  chunk.sent == 0 ? chunk.descriptors : std::vector<int>{});
  if (sent.error == EAGAIN) return ask_for_room(true), false;
  if (sent.error == ETOOMANYREFS) return write_again_later(), false;
  if (sent.error) return give_up(error_of(sent.error)), false;
  chunk.sent += sent.bytes;
  unsent_bytes_ -= sent.bytes;
  if (chunk.sent == chunk.bytes.size()) unsent_.pop_front();
  return true;
}

void Connection::ask_for_room(bool is_wanted) {
  if (waits_for_room_ == is_wanted) return;
  waits_for_room_ = is_wanted;
  reactor_.rearm(watch_, socket_.get(), EPOLLIN | (is_wanted ? EPOLLOUT : 0u));
}

void Connection::write_again_later() {
  reactor_.post([&reactor = reactor_, me = weak_from_this()] {
    reactor.at(Clock::now() + kDescriptorsPause, [me] {
      if (const auto self = me.lock()) self->write_waiting();
    });
  });
}

// The reactor's thread alone ends a connection: a send, from whichever thread, may not. It makes
// sure that the next read does.
void Connection::give_up(Error why) {
  if (!broken_) broken_ = std::move(why);
  unsent_.clear();
  unsent_bytes_ = 0;
  shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace chime::net
