// Messages between the host sides of any two PEs, over authenticated connections that are opened at
// their first use (net/mesh/mesh.hpp), on a thread of its own.
//
// For data that is small, seldom, and needs no kernel: how a connection of the NIC is made, what a
// collective call agrees on, which PEs are gone. Not encrypted.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "net/mesh/mesh.hpp"

namespace chime::host {

// The users and their kinds of messages: a tag is one kind.
enum class SideTag : net::Mesh::Tag {
  kCollective = net::Mesh::kFirstTag,
  kOpenings,
  kFirstForTests
};

// The addresses of all network interfaces that are up, or of the one named `interface`; loopback
// last. Throws Error if there is none.
std::vector<net::Address> addresses_of_this_host(const std::string& interface);

class SideChannel {
 public:
  // `from` sent it. Called from the channel's thread, one at a time: the handler must not block,
  // and may send.
  using Handler = net::Mesh::Handler;
  using Lost = net::Mesh::Lost;
  using Left = net::Mesh::Left;

  // Listens, and publishes where: on this machine only, if all PEs of the job are here, else on
  // every network interface, or on `interface` alone (CHIME_BOOTSTRAP_IF). May wait as
  // bootstrap.node() does. `timeout` bounds the opening of a connection. `lost(pe, why)` is called
  // from the channel's thread, once a PE that is gone without goodbye or cannot be reached. Throws
  // Error. `bootstrap` outlives it. PEs find each other by `name`, which a joined job has once.
  SideChannel(bootstrap::Bootstrap& bootstrap, std::string name, const std::string& interface,
              std::chrono::milliseconds timeout, Lost lost);
  // Says goodbye, and ends the thread.
  ~SideChannel();

  // The handler of messages with `tag`, and the callback for PEs that have said goodbye: before
  // start().
  void handle(SideTag tag, Handler handler);
  void on_left(Left left) { mesh_.on_left(std::move(left)); }
  // Starts the thread: messages may come now, those that are there already first.
  void start();

  // Takes `payload`, at most net::Mesh::kMaxPayload bytes, for `pe`, which may be this one; returns
  // before it has arrived. Messages to one PE arrive in the order of sending. False, and nothing is
  // sent, while too much waits for that PE. The first message to a PE asks the bootstrap where it
  // is, and waits, as all that follow it, until that is known: send() does not. Throws
  // Error{PEER_DEAD} when `pe` has left or is lost. From any thread.
  bool send(int pe, SideTag tag, std::span<const std::byte> payload);

  // PEs that this one has opened a connection to.
  std::size_t opened() const { return mesh_.opened(); }

 private:
  void find_endpoint_info(int pe);

  const bootstrap::Bootstrap& bootstrap_;
  const std::string key_;  // of its endpoint info
  net::Mesh mesh_;
  std::thread thread_;
  std::mutex mutex_;                        // guards what follows
  std::vector<bootstrap::Question> asked_;  // last: their answers go to the mesh
};

}  // namespace chime::host
