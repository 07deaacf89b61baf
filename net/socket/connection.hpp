// A socket with a secure channel over it, served by a reactor.
//
// An owner holds it by shared_ptr and may let go of it at any time, also in one of its own calls:
// first close(). All calls come from the reactor's thread, but for send() and unsent_bytes(), which
// any thread may make while the connection is open.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/mesh/reactor.hpp"
#include "net/secure/secure_channel.hpp"
#include "net/socket/error.hpp"
#include "net/socket/socket.hpp"

namespace chime::net {

class Connection;

// Gets the events of connections. Calls come from the reactor's thread, with no lock held; each may
// close any connection.
class ConnectionOwner {
 public:
  // Server: the client knows the secret. Call accept() or refuse(), now or later.
  virtual void on_proven(Connection&) {}
  // Client: the server knows the secret and has accepted.
  virtual void on_open(Connection&) {}
  virtual void on_frame(Connection&, Bytes frame) = 0;
  // All that was to be sent has been, after some of it had to wait.
  virtual void on_drained(Connection&) {}
  // The connection is over, and closed. Called once, and not after close().
  virtual void on_end(Connection&, const Error& why) = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The most bytes that may wait to be sent: a peer that lets more pile up does not read, and is as
  // good as gone.
  static constexpr std::size_t kMaxUnsentBytes = std::size_t{64} << 20;

  // `socket` is connected, or connecting (a client's). Unless the handshake is over at
  // `handshake_by`, the connection ends. The owner is not called before this returns. Both outlive
  // the connection, or close() it.
  static std::shared_ptr<Connection> start(Reactor& reactor, ConnectionOwner& owner,
                                           Descriptor socket, SecureChannel channel,
                                           Deadline handshake_by);
  ~Connection();

  // On_proven's answers. A refused client gets its words, and then the connection ends.
  void accept();
  void refuse(std::string_view why);

  // Sends `payload` after all that was sent before, whole or not at all: bytes that the socket does
  // not take now wait. `descriptors`, at most kMaxDescriptorsASend, go with it and must stay open
  // until on_drained or on_end. Throws Error{kClosed} when it is not open (any more).
  void send(std::span<const std::byte> payload, std::span<const int> descriptors = {});
  bool has_unsent() const { return unsent_bytes() > 0; }
  std::size_t unsent_bytes() const;

  // For on_frame: the next `n` descriptors that came, in the order of sending. A frame's
  // descriptors have come when the frame has. Throws Error{kProtocol} if fewer have.
  std::vector<Descriptor> take_descriptors(std::size_t n);

  // Reads what has come by now, before the reactor gets to it.
  void read_now();

  // Ends it without a word to the owner. Once it has been called, nothing else is.
  void close();

  // From now on another owner gets the events, until it closes the connection.
  void belong_to(ConnectionOwner& owner) { owner_ = &owner; }

  bool is_open() const;
  bool is_closed() const;
  // Nobody's kernel has answered yet. For the reactor's thread.
  bool is_connecting() const { return is_connecting_; }
  std::int32_t client_pe() const { return channel_.client_pe(); }
  const Bytes& introduction() const { return channel_.introduction(); }
  // The other end, for people.
  const std::string& peer() const { return peer_; }

  // For the owner, which may keep its data of the connection by this number.
  std::uint64_t tag = 0;

 private:
  struct Chunk {
    Bytes bytes;
    std::size_t sent = 0;
    std::vector<int> descriptors;
  };

  Connection(Reactor& reactor, ConnectionOwner& owner, Descriptor socket, SecureChannel channel);

  void watch(Deadline handshake_by);
  void on_ready(std::uint32_t events);
  bool is_connected();
  void read_some();
  Transfer receive(std::span<std::byte> buffer);
  void take_in(std::span<const std::byte> bytes);
  void tell_of_handshake(SecureChannel::State before, SecureChannel::State now);
  void deliver_frames();
  std::optional<Bytes> next_frame();
  void write_waiting();
  Error why_closed(int error) const;
  void end(const Error& why);
  // Runs `step`; what net/ throws there ends the connection.
  template <class Step>
  void ending_on_error(Step step);

  // With mutex_ held.
  void queue_output(std::span<const int> descriptors = {});
  void write_some();
  bool write_chunk();
  void ask_for_room(bool is_wanted);
  void write_again_later();
  void give_up(Error why);

  Reactor& reactor_;
  ConnectionOwner* owner_;
  std::string peer_;
  Reactor::WatchId watch_ = 0;  // constant once started
  std::optional<Reactor::TimerId> handshake_timer_;
  bool is_connecting_;
  std::deque<Descriptor> received_;  // and not taken yet

  mutable std::mutex mutex_;  // guards all below
  Descriptor socket_;
  SecureChannel channel_;
  std::deque<Chunk> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool waits_for_room_ = false;
  std::optional<Error> broken_;  // why a send failed: the socket is shut down, the next read ends
};

}  // namespace chime::net
