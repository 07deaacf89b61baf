// Messages between any two PEs of a job, over connections that are opened when they are first
// needed.
//
// Each PE has a mesh, which listens, and an endpoint info that says where. A PE that sends to
// another opens a connection of its own to it. So a pair that speaks both ways has two connections
// and agrees on none, and n PEs that each speak to k others have n * k, not n * n. The opener
// brings its endpoint info, so that the PE that answers looks for nothing: the keeper of the
// endpoint infos may be gone by then. Messages of one PE to another arrive in order, each once,
// whole.
//
// When a PE's process ends without stop(), every PE that it was connected with learns that it is
// lost. A PE that cannot be reached learns that it is lost itself, if it has reached this one. A PE
// that has left is known by its goodbye. A PE that comes later finds that nobody listens at the
// address in the endpoint info, and learns that at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/mesh/gate.hpp"
#include "net/socket/dial.hpp"

namespace chime::net {

class Mesh final : private ConnectionOwner {
 public:
  using Tag = std::uint32_t;
  static constexpr Tag kFirstTag = 1;  // those below are the mesh's own
  static constexpr std::size_t kMaxPayload = std::size_t{1} << 20;
  // Most bytes that may wait for one PE: more are refused.
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{8} << 20;

  // `from` sent it. Called from run()'s thread, one at a time: the handler must not block, and may
  // send. An Error that it throws ends the connection to `from`: the message made no sense.
  using Handler = std::function<void(int from, std::span<const std::byte> payload)>;
  // Begins to look for the endpoint info of `pe`, which has not brought it, and sees to it that
  // found() or not_found() is called, whenever that is known. Once a PE, by a thread that sends or
  // run()'s; it must not wait.
  using FindEndpointInfo = std::function<void(int pe)>;
  // `pe` is gone, cannot be reached, or could not reach this PE. Called from run()'s thread, once a
  // PE.
  using Lost = std::function<void(int pe, const std::string& why)>;
  // `pe` has said goodbye. It may not have handled the last messages to it, and nothing comes from
  // it but what is in flight. Called from run()'s thread, once a PE, and never for a lost one.
  using Left = std::function<void(int pe)>;

  struct Options {
    Bytes secret;  // the job's
    std::string job;
    int pe = 0;
    int n_pes = 1;
    std::vector<Address> listen_at;  // port 0: any
    std::vector<Address> offered =
        {};  // what the endpoint info says instead of 0.0.0.0 and [::], without port
    std::chrono::milliseconds connect_timeout{20'000};
    // Added to the words of a PE that cannot be reached: what may be wrong, and what to do.
    std::string if_unreachable = {};
    std::function<void(std::string)> log{};  // refused strangers: one line
  };

  // Listens. Throws Error if it cannot.
  Mesh(Options options, FindEndpointInfo find_endpoint_info, Lost lost);
  ~Mesh();

  // Where this mesh listens: for other PEs' FindEndpointInfo.
  const Bytes& endpoint_info() const { return endpoint_info_; }

  // The handler of messages with `tag`. Before run().
  void handle(Tag tag, Handler handler) { handlers_[tag] = std::move(handler); }
  // `left` is called for PEs that leave. Before run().
  void on_left(Left left) { left_ = std::move(left); }

  // Serves until stop(), on one thread.
  void run();
  // Delivers what was sent, says goodbye, so that nobody takes this PE's end for a death, and ends
  // run(): after a second also where a peer does not take it. From any thread. Nothing that is sent
  // later arrives.
  void stop();

  // Takes `payload` for `pe`, which may be this one; returns before it has arrived. False, and
  // nothing is sent, when kMaxQueuedBytes wait for that PE already. The first message to a PE asks
  // FindEndpointInfo. Throws Error{kClosed} when `pe` has left or is lost. From any thread,
  // handlers included.
  bool send(int pe, Tag tag, std::span<const std::byte> payload);

  // FindEndpointInfo's answers, from any thread: `pe` is tried there; or it counts as lost.
  void found(int pe, Bytes endpoint_info);
  void not_found(int pe, std::string why);

  // Connections that were opened from here.
  std::size_t opened() const;

 private:
  struct Peer {
    std::vector<Bytes> waiting;  // for the endpoint info, and the connection to open
    std::size_t waiting_bytes = 0;
    bool is_asked = false;                   // somebody opens the connection
    std::shared_ptr<Connection> connection;  // open, and nothing waits
    Bytes endpoint_info;                     // that it has brought
    std::string gone;                        // why it cannot be sent to any more
  };

  void send_over(Connection& connection, int pe, const Bytes& message);
  bool send_to_myself(Tag tag, std::span<const std::byte> payload);
  Bytes introduction() const;
  bool has_waiting() const;
  void open(int pe, const Bytes& endpoint_info);
  void use(int pe, std::shared_ptr<Connection> connection);
  void flush(int pe, std::shared_ptr<Connection> connection);
  void admit(std::shared_ptr<Connection> guest);
  std::string why_refused(int pe) const;
  std::string why_unreached(const Error& why) const;
  void give_up(int pe, const std::string& why);
  void lose(int pe, const std::string& why);
  void leave(int pe);
  void part();
  bool is_flushed() const;
  void dispatch(int from, std::span<const std::byte> message);
  int pe_of(const Connection& connection) const { return static_cast<int>(connection.tag); }

  void on_frame(Connection& connection, Bytes frame) override;
  void on_end(Connection& connection, const Error& why) override;

  const Options options_;
  const Credentials credentials_;
  const FindEndpointInfo find_endpoint_info_;
  const Lost lost_;
  Left left_;
  std::unordered_map<Tag, Handler> handlers_;
  Bytes endpoint_info_;

  // Run()'s thread.
  Reactor reactor_;
  bool must_stop_ = false;
  std::map<int, std::unique_ptr<Dial>> dials_;
  std::map<int, std::shared_ptr<Connection>> guests_;  // that others opened
  std::vector<bool> is_reported_;                      // [pe] its loss or leave
  std::unique_ptr<Gate> gate_;

  mutable std::mutex mutex_;  // guards peers_
  std::unordered_map<int, Peer> peers_;
};

}  // namespace chime::net
