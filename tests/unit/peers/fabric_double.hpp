// A transport that the host drives, like one over libfabric: it posts and polls requests, reaches
// peers' heaps by copies, and every pair agrees before use.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/transport/transport.hpp"

namespace chime::host {

// The connection between the PEs of a test, which are threads.
class Fabric {
 public:
  void attach(int pe, std::byte* heap) {
    const std::lock_guard lock(mutex_);
    heaps_[pe] = heap;
  }
  void serve(int pe, WordOwner& owner) {
    const std::lock_guard lock(mutex_);
    owners_[pe] = &owner;
  }
  void carry_out(const HostRequest& request) {
    const std::lock_guard lock(mutex_);
    std::byte* const there = heaps_.at(request.pe) + request.at;
    switch (request.kind) {
      case HostRequest::Kind::kPut:
        std::memcpy(there, request.here, request.bytes);
        return;
      case HostRequest::Kind::kGet:
        std::memcpy(request.here, there, request.bytes);
        return;
      case HostRequest::Kind::kAtomic:
        const std::uint64_t before = owners_.at(request.pe)->update(request.at, request.update);
        if (request.here != nullptr) std::memcpy(request.here, &before, sizeof(before));
    }
  }

 private:
  std::mutex mutex_;
  std::map<int, std::byte*> heaps_;
  std::map<int, WordOwner*> owners_;
};

class FabricDouble final : public Transport, private HostDriven {
 public:
  static constexpr std::size_t kRoom = 4;

  FabricDouble(Fabric& fabric, int my_pe, std::byte* heap) : fabric_(fabric), my_pe_(my_pe) {
    fabric_.attach(my_pe, heap);
  }
  ~FabricDouble() override {
    if (at_its_end) at_its_end();
  }
  std::function<void()> at_its_end;
  Reach reach = Reach::kJob;
  Path path = Path::kProxy;
  bool some_have = true, on_demand = false, finds = false, agrees = true;
  // The peers that it refuses, and a replacement for its endpoint info.
  std::set<int> unwanted;
  EndpointInfoBytes endpoint_info = text("an endpoint info");
  std::string fabric_name = "test's";
  // The data that peers have shown.
  std::map<int, std::string> endpoint_infos, offers, receipts;

  static EndpointInfoBytes text(const std::string& content) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(content.data());
    return {bytes, bytes + content.size()};
  }
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  Capabilities capabilities() const override {
    return {.path = path, .reach = reach, .maps = false, .posts = true};
  }
  std::string describe() const override { return "a fabric of the test's"; }
  OwnEndpointInfo own_endpoint_info() const override { return {endpoint_info}; }
  EndpointInfoBytes offer(int pe) override { return text(pair("offer", my_pe_, pe)); }
  Acceptance accept(int pe, const PeerEndpointInfo& theirs) override {
    endpoint_infos[pe] = text(theirs.bytes);
    offers[pe] = text(theirs.offer);
    if (unwanted.contains(pe)) return {};
    return {.is_accepted = true, .receipt = text(pair("receipt", my_pe_, pe))};
  }
  void confirm(int pe, std::span<const std::byte> receipt) override {
    receipts[pe] = text(receipt);
  }
  std::string why_not(int pe) const override {
    return "PE " + std::to_string(pe) + " is not on the " + fabric_name + " fabric";
  }
  bool is_used() const override { return some_have; }
  bool opens_on_demand() const override { return on_demand; }
  bool finds_peers() const override { return finds; }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override {
    endpoint_infos[0] = text(endpoint_info);
    return agrees;
  }
  void make_view(ChannelTables&) override {}
  std::unique_ptr<Registration> register_memory(std::byte*, std::size_t) override {
    ++registrations;
    return std::make_unique<Counted>(registrations);
  }
  int registrations = 0;

  void fail(int pe) override { failed_.insert(pe); }
  HostDriven* host_driven() override { return this; }

  // "offer of 1 for 2"
  static std::string pair(const std::string& what, int of, int to) {
    return what + " of " + std::to_string(of) + " for " + std::to_string(to);
  }

 private:
  struct Counted final : Registration {
    explicit Counted(int& count) : count_(count) {}
    ~Counted() override { --count_; }
    int& count_;
  };

  void serve(WordOwner& owner) override { fabric_.serve(my_pe_, owner); }
  bool post(const HostRequest& request, std::uint64_t completion) override {
    if (posted_.size() == kRoom) return false;
    posted_.push_back({request, completion});
    return true;
  }
  std::size_t poll(std::span<Ended> ended) override {
    const std::size_t count = std::min(ended.size(), posted_.size());
    for (Ended& one : ended.first(count)) {
      const auto [request, completion] = posted_.front();
      posted_.pop_front();
      const bool is_lost = failed_.contains(request.pe);
      if (!is_lost) fabric_.carry_out(request);
      one = {completion, is_lost ? CHIMEX_ERR_NETWORK : CHIMEX_OK};
    }
    return count;
  }

  Fabric& fabric_;
  const int my_pe_;
  std::deque<std::pair<HostRequest, std::uint64_t>> posted_;
  std::set<int> failed_;
};

}  // namespace chime::host
