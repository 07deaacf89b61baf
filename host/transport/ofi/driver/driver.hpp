// Carries requests to peers, and carries out what peers ask for: what HostDriven promises, over a
// wire.
//
// A request of up to the wire's piece is one transfer; a longer one goes piece by piece. An atomic
// is a message to the owner of its word, which answers, and so is a put of few bytes where both
// processors reach the heaps; requests/order.hpp says when an atomic may go. Messages and transfers
// that wait for room are in the peer's outbox. driver/served.hpp carries out what a peer asks the
// processor for.
//
// Where a heap is a GPU's, its own device does the work that peers ask for. If the provider does
// not know the heap, data goes through slots of the host's memory at both ends (../bounce).
//
// A peer whose name is not known yet is looked for when it is first touched, or heard of, and
// requests to it wait (driver/driver_names.cpp).
//
// The first failure to a peer ends the path to it: later requests may depend on the failed one. A
// peer that has work and shows no sign of life is lost, too (driver/silence.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "host/gpu/gpu.hpp"
#include "host/transport/ofi/bounce/initiator.hpp"
#include "host/transport/ofi/bounce/target.hpp"
#include "host/transport/ofi/driver/losses.hpp"
#include "host/transport/ofi/driver/names.hpp"
#include "host/transport/ofi/driver/outbox.hpp"
#include "host/transport/ofi/driver/silence.hpp"
#include "host/transport/ofi/requests/peer_links.hpp"
#include "host/transport/ofi/requests/wire.hpp"

namespace chime::host::ofi {

class Driver final : public HostDriven, private RequestSink, private Outbox::Owner {
 public:
  // Requests from post() until poll() has reported their ends.
  static constexpr std::size_t kRoom = 512;

  struct Place {
    int my_pe, n_pes;
    std::span<std::byte> heap;
    std::uint64_t pass;                // what batches of messages to this PE begin with
    std::chrono::nanoseconds timeout;  // of a peer that has work and shows no sign of life; 0: none
    bool sends_puts;                   // as messages: its processor reads what is to be put
  };
  // The additional parts of a PE whose heap is a GPU's.
  struct Device {
    Device(const DeviceWork::MakeQueue& make, std::span<std::byte> pool,
           std::span<const std::byte> heap, int n_pes)
        : slots(pool, n_pes), ranges(heap), work(make) {}
    SlotPool slots;
    DeviceRanges ranges;
    DeviceWork work;
  };
  // All of them outlive this; memory of posted requests also outlives the endpoint, which may use
  // it to its end. `names`: of peers that are not added. Null: then there is no path to these.
  // `device`: null on the CPU device.
  Driver(const Place& place, Gpu& gpu, Wire& wire, Requests& requests, BatchPool& mail,
         Names* names = nullptr, Device* device = nullptr);

  // REQUIRES: not this PE.
  void add_peer(int pe, const PeerName& name);

  void serve(WordOwner& owner) override { owner_ = &owner; }
  bool owns_words() const override { return device_ != nullptr; }
  void update_by_nic(const Context& kernels) override {
    device_->work.use_nic(kernels, device_->slots.scratch);
  }
  bool post(const HostRequest& wanted, std::uint64_t completion) override;
  std::size_t room() const override { return kRoom; }
  std::size_t poll(std::span<Ended> ended) override;
  bool has_moved() const override { return has_moved_; }
  int idle_descriptor() override;
  bool joins_signal(const HostRequest& put) const override;

  // From any thread.
  void fail(int pe) { losses_.ask(pe); }
  std::optional<std::string> why_lost(int pe) const { return losses_.why(pe); }

 private:
  using Clock = std::chrono::steady_clock;
  // A lost peer's requests that the provider has: until when it may tell of them by itself.
  struct Lingering {
    PeerLink* link;
    Clock::time_point until;
    bool was_gone;  // when this began: by then nothing of the peer comes any more
  };

  PeerLink* peer_link_to(int pe);  // null: there is none, and will be none
  void take_names();
  void name(PeerLink& link, const PeerName& its_name);

  void carry_out_here(Request& request);
  void update_here(Request& request);
  void start(PeerLink& link, Request& request);
  void start_transfer(PeerLink& link, Request& request);
  void start_atomic(PeerLink& link, Request& request);
  void start_message(PeerLink& link, Request& request);
  void start_bounced(PeerLink& link, Request& request);
  bool is_message(const PeerLink& link, const HostRequest& wanted) const;
  void ask(PeerLink& link, Request& request);
  void answer(PeerLink& link, const Message& ask, std::uint64_t before, chimex_status status);
  void pass(PeerLink& link, Request& request);
  void end(Request& request, chimex_status status);
  void retire(Request& request);

  void on_taken(PeerLink& link, Request& request) override;
  void on_refused(PeerLink& link, const Posted& posted, int error) override;

  void send(PeerLink& link, const Message& message, std::span<const std::byte> body) override;
  void run(PeerLink& link, const HostRequest& internal_request, void* task) override;
  void on_carried(PeerLink& link, Request& put) override;
  void on_ended(PeerLink& link, Request& request) override;
  void on_let_go(Request& request) override;

  bool poll_device();
  void take_completions();
  void take_failure();
  void on_transfer(Request& request);
  void on_arrival(Arrival& arrival, std::size_t bytes);
  void on_batch(PeerLink& link, BatchReader batch);
  void on_ask(PeerLink& link, const Message& ask, std::span<const std::byte> body);
  void turn_away(const PeerLink& link, const Message& ask);
  Request* asked(const PeerLink& link, std::uint64_t id);
  void on_answer(PeerLink& link, const Message& answer, std::span<const std::byte> data);
  void post_arrivals();
  void be_deaf(int error);

  void lose(PeerLink& link, const std::string& why) override;
  void lose_those_asked_for();
  void lose_the_silent();
  void end_lingering();
  void lose_all(const std::string& why) override;
  std::size_t end_all_to(const PeerLink& link, bool also_held);  // how many
  std::size_t tell(std::span<Ended> ended);

  const Place place_;
  Gpu& gpu_;
  Wire& wire_;
  Requests& requests_;
  BatchPool& batches_;
  WordOwner* owner_ = nullptr;
  Names* const names_;
  Device* const device_;
  std::optional<Initiator> initiator_;  // with a device
  std::optional<Target> target_;
  PeerLinks links_;
  Outbox outbox_;
  Silence silence_;
  std::size_t unnamed_ = 0;  // links that wait for their names
  std::size_t in_use_ = 0;
  std::vector<Arrival*> unposted_;  // places for batches that the provider had no room for
  std::string why_all_lost_;        // not empty: later peers are lost, too
  std::deque<Request*> ended_;      // to be reported
  std::vector<Lingering> lingering_;
  bool has_moved_ = false;
  unsigned polls_ = 0;  // a clock is looked at with some
  Losses losses_;
};

}  // namespace chime::host::ofi
