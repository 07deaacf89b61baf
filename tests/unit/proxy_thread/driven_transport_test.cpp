// A transport that the host drives, behind the proxy: the memory that it uses.
#include "proxy/driven_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "chime/abi/proxy_request.h"
#include "chime/abi/words.h"
#include "host/gpu/factory.hpp"

namespace chime::proxy::tests {
namespace {

using namespace std::chrono_literals;
using host::ContextOwner;
using host::HostRequest;

// Ends nothing, as with a slow peer: until it is closed it uses its memory.
class Slow final : public host::Transport, private host::HostDriven {
 public:
  struct Seen {
    std::atomic<int> posted{0};
    std::uint64_t sent = 0;
  };
  explicit Slow(Seen& seen) : seen_(seen) {}
  ~Slow() override {
    std::memcpy(&seen_.sent, put_.here, sizeof seen_.sent);
    std::memset(get_.here, 1, get_.bytes);
    owner_->update(0, {AmoOp::kAdd, 8, 1, 0});
  }

  host::Capabilities capabilities() const override {
    return {.path = Path::kProxy, .reach = host::Reach::kJob, .maps = false, .posts = true};
  }
  std::string describe() const override { return "a slow fabric"; }
  host::OwnEndpointInfo own_endpoint_info() const override { return {}; }
  host::Acceptance accept(int, const host::PeerEndpointInfo&) override {
    return {.is_accepted = true};
  }
  std::string why_not(int) const override { return "it is"; }
  void make_view(host::ChannelTables&) override {}
  host::HostDriven* host_driven() override { return this; }

 private:
  void serve(host::WordOwner& owner) override { owner_ = &owner; }
  bool post(const HostRequest& request, std::uint64_t) override {
    (request.kind == HostRequest::Kind::kPut ? put_ : get_) = request;
    ++seen_.posted;
    return true;
  }
  std::size_t poll(std::span<Ended>) override { return 0; }

  Seen& seen_;
  host::WordOwner* owner_ = nullptr;
  HostRequest put_{}, get_{};
};

void post(const Context& context, std::uint64_t index, const abi::ProxySlot& slot) {
  const abi::ChannelHead& head = context.channels.pool.channels[0].head;
  auto& there = reinterpret_cast<abi::ProxySlot*>(head.ring)[index];
  const abi::ProxySlot whole = abi::with_lap(slot, abi::proxy_lap(index, head.depth));
  for (std::size_t i = 0; i < std::size(whole.word); ++i)
    std::atomic_ref(there.word[i]).store(whole.word[i], std::memory_order_release);
}

// Values of requests, places of results, words of the heap: all exist until the fabric is closed.
TEST(DrivenTransport, KeepsWhatTheFabricUsesUntilThatIsClosed) {
  const auto gpu = host::open_simt_gpu();
  alignas(64) std::array<std::byte, 4096> heap{};
  Slow::Seen seen;
  ProxyOptions options;
  options.depth = abi::kProxyMostDepth;  // the system reclaims that much memory
  const host::ChannelNeeds needs = {.places = 1, .kernel_slots = 4, .host_slots = 1};
  host::ChannelTables tables(*gpu, 2, {&needs, 1});
  {
    DrivenTransport driven(std::make_unique<Slow>(seen),
                           {.my_pe = 0,
                            .n_pes = 2,
                            .node_pes = 1,
                            .gpu = *gpu,
                            .heap = heap,
                            .options = options,
                            .failed = [](const std::string& why) { ADD_FAILURE() << why; }});
    driven.confirm(1, {});
    driven.make_view(tables);
    driven.begin();
    Context context;
    tables.view(ContextOwner::kHost, context);
    post(context, 0, abi::proxy_put_value(1, 64, 8, 0x1234567890));
    post(context, 1, abi::with_answer(abi::proxy_get_value(1, 64, 16), 0));
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (seen.posted < 2 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(100us);
    ASSERT_EQ(seen.posted, 2);
  }
  EXPECT_EQ(seen.sent, 0x1234567890u);
  EXPECT_EQ(heap[0], std::byte{1});
}

}  // namespace
}  // namespace chime::proxy::tests
