// A PE's side of a hub: the Bootstrap of chime-run's PEs and of unique ids.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub/lost_peers.hpp"
#include "bootstrap/hub/token.hpp"
#include "bootstrap/hub/wire.hpp"
#include "net/socket/dial.hpp"

namespace chime::bootstrap {

class HubClient : public Bootstrap {
 public:
  struct Options {
    std::vector<net::Address> hub;  // where it may be
    bool waits_for_hub = false;     // which may not be there yet
    Token token;
    int pe = 0;
    int n_pes = 1;
    std::chrono::milliseconds timeout{60'000};
    std::string means;     // for describe(): "chime-run", "unique id"
    std::string hub_name;  // for error texts: "chime-run", "the rendezvous at 10.0.0.1:4711"
    chimex_status code_when_gone = CHIMEX_ERR_SYSTEM;  // of calls that need a hub that is gone
    bool ends_with_hub = false;  // the hub is the launcher: when it dies, so does this process
    bool ends_when_aborted =
        false;  // no launcher would end this process when a PE asks for the job's end
  };

  // Joins. Throws net::Error, whose words say what was tried, when no hub that knows the token has
  // let it in until `deadline`; at once when one that knows it says no (Fault::kRefused).
  HubClient(Options options, Deadline deadline);
  ~HubClient() override;

  int rank() const override { return options_.pe; }
  int size() const override { return options_.n_pes; }
  std::string job_id() const override { return job_id_of(options_.token); }
  Bytes job_secret() const override { return job_secret_of(options_.token); }
  void publish(std::string_view key, std::span<const std::byte> value) override;
  void abort(int code, std::string_view why) noexcept override;
  void on_peer_lost(std::function<void(int pe, std::string why)> lost) override {
    lost_peers_.tell_to(std::move(lost));
  }
  void on_activity_asked(std::function<void()> say) override {
    std::lock_guard lock(say_mutex_);
    say_ = std::move(say);
  }
  bool asks_for_activity() const override { return options_.ends_with_hub; }
  std::string why_lost(int pe) const override { return lost_peers_.why(pe); }
  std::string describe() const override;

 protected:
  // A loss that a launcher reports without the hub.
  void note_lost(int pe, const std::string& why) { lost_peers_.add(pe, why); }

 private:
  // Not the client itself: its class may have another above it, which is not there yet, or no more,
  // while the thread calls.
  class Hearing final : public net::ConnectionOwner {
   public:
    explicit Hearing(HubClient& client) : client_(client) {}
    void on_frame(net::Connection&, Bytes frame) override { client_.hear(frame); }
    void on_drained(net::Connection&) override { client_.note_drained(); }
    void on_end(net::Connection&, const net::Error&) override { client_.note_end(); }

   private:
    HubClient& client_;
  };

  NodeInfo find_node() const override;
  void look_for(OpenQuestions::Id question, int pe, std::string_view key,
                bool may_wait) const override;
  void publish_in_passing(std::string_view key, std::span<const std::byte> value) override;
  std::string why_open(OpenQuestions::Id question) const override;

  // A request in flight; the answer goes to `question`. `write` adds its fields.
  template <class Write>
  void post(Message type, OpenQuestions::Id question, Write write) const;
  // The same, and waits for the answer. `what` names it in errors.
  template <class Write>
  Bytes request(Message type, Write write, const std::string& what) const;

  void join(Deadline deadline);
  void serve();
  void send(const Bytes& message) const;
  void flush() const;
  void hear(const Bytes& frame);
  void note_answer(MessageReader& message);
  void note_aborted(int pe, int code, const std::string& why) const;
  void tell_activity();
  void note_drained();
  void note_end();

  Options options_;

  LostPeers lost_peers_;

  std::mutex say_mutex_;  // also held while it is called
  std::function<void()> say_;

  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable has_sent_;
  bool is_leaving_ = false;
  bool is_hub_gone_ = false;

  Hearing hearing_{*this};
  net::Reactor reactor_;
  std::shared_ptr<net::Connection> connection_;  // constant once joined
  bool must_stop_ = false;                       // the thread's own
  std::thread thread_;
};

}  // namespace chime::bootstrap
