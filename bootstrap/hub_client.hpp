// A PE's side of a hub: the Bootstrap of chime-run's PEs and of unique ids.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/file_descriptor.hpp"
#include "bootstrap/lost_peers.hpp"
#include "bootstrap/wire.hpp"

namespace chime::bootstrap {

// The hub knows the token, and says no: asking again is in vain.
class HubRefusal : public BootstrapError {
 public:
  explicit HubRefusal(std::string what) : BootstrapError(std::move(what), CHIMEX_ERR_MISMATCH) {}
};

class HubClient final : public Bootstrap {
 public:
  struct Options {
    Token token;
    int pe = 0;
    int n_pes = 1;
    std::chrono::milliseconds timeout{60'000};
    std::string means;           // for describe(): "chime-run", "unique id"
    std::string hub_name;        // for error texts: "chime-run", "the rendezvous at 10.0.0.1:4711"
    bool ends_with_hub = false;  // the hub is the launcher: when it dies, so does this process
    bool ends_when_aborted =
        false;  // no launcher would end this process when a PE asks for the job's end
  };

  // Joins over `fd`, a stream socket connected to a hub. Throws BootstrapError if the hub refuses,
  // does not know the token, or does not answer until `deadline`.
  HubClient(FileDescriptor fd, Options options, Deadline deadline);
  ~HubClient() override;

  int rank() const override { return options_.pe; }
  int size() const override { return options_.n_pes; }
  std::vector<int> node_peers() const override;
  std::string job_id() const override { return job_id_of(options_.token); }
  Bytes job_secret() const override { return job_secret_of(options_.token); }
  void publish(std::string_view key, std::span<const std::byte> value) override;
  Bytes lookup(int pe, std::string_view key, Deadline deadline) override;
  void barrier(Deadline deadline) override;
  void abort(int code, std::string_view why) noexcept override;
  void on_peer_lost(std::function<void(int pe, std::string why)> lost) override {
    lost_peers_.tell_to(std::move(lost));
  }
  void on_activity_asked(std::function<void()> say) override {
    std::lock_guard lock(say_mutex_);
    say_ = std::move(say);
  }
  std::string why_lost(int pe) const override { return lost_peers_.why(pe); }
  std::string describe() const override;

 private:
  enum class Outcome { kNone, kReply, kFailed };
  struct Answer {
    Outcome outcome = Outcome::kNone;
    Bytes content = {};  // words, if the request has failed
  };
  // One request on its way. `write` adds its fields; `what` names it in errors.
  template <class Write>
  Bytes request(Message type, Write write, Deadline deadline, const std::string& what) const;
  template <class Write>
  std::uint32_t post(Message type, Write write, const std::string& what) const;
  std::uint32_t open_request() const;
  Answer look_for(std::uint32_t id, Deadline deadline) const;
  Answer wait_for(std::uint32_t id, Deadline deadline) const;
  Bytes content_of(Answer answer, const std::string& what) const;
  void enter_barrier(Deadline deadline) const;
  std::string ask_why(std::uint32_t id) const;

  void introduce(Deadline deadline);
  Bytes receive_before(Deadline deadline);
  void send(std::span<const std::byte> message) const;
  void read_messages();
  void hear(MessageReader& message);
  void note_aborted(int pe, int code, const std::string& why) const;
  void tell_activity();
  void note_hub_gone();

  Options options_;
  FileDescriptor fd_;
  MessageStream input_;

  mutable std::mutex send_mutex_;  // one message at a time

  LostPeers lost_peers_;

  std::mutex say_mutex_;  // also held while it is called
  std::function<void()> say_;

  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable answered_;
  mutable std::uint32_t next_id_ = 1;
  mutable std::map<std::uint32_t, Answer> requests_;
  bool is_leaving_ = false;
  bool is_hub_gone_ = false;
  bool is_barrier_broken_ = false;

  std::thread reader_;
};

// What equal strings mean: same kernel, same process-id space.
std::string name_of_this_node();

}  // namespace chime::bootstrap
