// A wire that keeps posted requests, and returns the completions that a test provides.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "host/transport/ofi/requests/wire.hpp"

namespace chime::host::ofi::test {

class FakeWire final : public Wire {
 public:
  struct Sent {
    int to;
    std::vector<std::byte> bytes;
  };
  ProviderFacts the_facts = {.name = "fake", .keeps_order = true};
  long receives = 0;     // the result of posting a receive for batches of messages
  bool has_room = true;  // for batches of messages and transfers
  int descriptor = HostDriven::kNoDescriptor;
  std::vector<Sent> batches = {};  // that were posted
  std::vector<Request*> transfers = {};
  std::deque<Completion> tells = {};
  std::deque<Failure> failures = {};  // returned first
  std::vector<char> order = {};       // of the posts: 't' a transfer, 'l' a batch of messages

  // A batch of messages arrives here. False: there is no receive for it.
  bool arrive(std::span<const std::byte> bytes) {
    if (places_.empty()) return false;
    Arrival& place = *places_.front();
    places_.pop_front();
    if (!bytes.empty())
      std::memcpy(place.data(), bytes.data(), std::min(bytes.size(), Arrival::kBytes));
    tells.push_back({&place, bytes.size()});
    return true;
  }

  const ProviderFacts& facts() const override { return the_facts; }
  long post(const PeerName&, Request& request) override {
    if (!has_room) return -FI_EAGAIN;
    transfers.push_back(&request);
    order.push_back('t');
    return 0;
  }
  long post(const PeerName& peer, MessageBatch& batch) override {
    if (!has_room) return -FI_EAGAIN;
    order.push_back('l');
    const auto bytes = batch.bytes_for(peer.pass);
    batches.push_back({batch.to, {bytes.begin(), bytes.end()}});
    tells.push_back({&batch, 0});
    return 0;
  }
  long post(Arrival& arrival) override {
    if (receives == 0) places_.push_back(&arrival);
    return receives;
  }
  long read(std::span<Completion> completions) override {
    if (!failures.empty()) return -FI_EAVAIL;
    if (tells.empty()) return -FI_EAGAIN;
    long count = 0;
    for (; !tells.empty() && count < static_cast<long>(completions.size()); ++count) {
      completions[static_cast<std::size_t>(count)] = tells.front();
      tells.pop_front();
    }
    return count;
  }
  Failure take_failure() override {
    Failure failure = std::move(failures.front());
    failures.pop_front();
    return failure;
  }
  std::size_t piece_of(std::size_t bytes) const override { return bytes; }
  int idle_descriptor() const override { return descriptor; }

 private:
  std::deque<Arrival*> places_;
};

}  // namespace chime::host::ofi::test
