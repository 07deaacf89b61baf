// The hub's own thread. It knows which connection is which PE, and in which session.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/hub/hub.hpp"
#include "bootstrap/hub/hub_session.hpp"
#include "net/mesh/gate.hpp"

namespace chime::bootstrap {

class HubServer final : private net::ConnectionOwner {
 public:
  HubServer(std::vector<net::Descriptor> listeners, Hub::Options options);
  ~HubServer();

  // Until stop(), or until it has been idle for too long.
  void serve();

  // From any thread.
  void stop();
  void tell_lost(int pe, std::string why);
  void ask_activity(std::function<void()> said);

 private:
  struct Member {
    std::shared_ptr<net::Connection> connection{};  // null: not in the job now
    std::size_t joinings = 0;                       // how often it has joined
    bool is_asked = false;                          // what it is doing, and has not answered
    std::string ended{};                            // why it will never join again; empty if it may
  };

  void admit(std::shared_ptr<net::Connection> guest);
  std::string why_refused(int pe, int n_pes);
  void set_number_of_pes(int n_pes);
  HubSession& session(std::size_t number);
  void send(int pe, std::size_t session, const Bytes& message);
  void abort(int pe, MessageReader& message);
  void lose(int pe, const std::string& why);
  void part_with(int pe);
  void free_if_over(std::size_t session);
  void ask_members(std::function<void()> said);
  void note_answers();
  void watch_the_clock();
  bool has_been_idle_too_long();
  void flush_last_answers();
  std::size_t session_of(int pe) const { return members_[pe].joinings - 1; }
  int pe_of(const net::Connection& connection) const { return static_cast<int>(connection.tag); }

  void on_frame(net::Connection& connection, net::Bytes frame) override;
  void on_end(net::Connection& connection, const net::Error& why) override;

  const Hub::Options options_;
  net::Reactor reactor_;
  std::vector<Member> members_;  // [pe]; empty until the number of PEs is known
  std::size_t n_connected_ = 0;
  std::map<std::size_t, std::unique_ptr<HubSession>> sessions_;  // that are not over
  bool is_first_over_ = false;
  std::function<void()> said_;  // to be called when nobody is asked any more
  std::optional<net::Deadline> idle_since_;
  bool must_stop_ = false;
  std::unique_ptr<net::Gate> gate_;
};

}  // namespace chime::bootstrap
