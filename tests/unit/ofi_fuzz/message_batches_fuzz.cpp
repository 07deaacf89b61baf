// Any messages while requests are in flight: no byte outside the heap is touched, and each request
// ends once.
//
// An input is a list of arrivals, each: 1 byte for the kind of head, 2 for the length, bytes. A
// head may get values that a stranger would have to guess.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fake_wire.hpp"
#include "host/gpu/factory.hpp"
#include "host/transport/ofi/driver/driver.hpp"

namespace {

using namespace chime;
using namespace chime::host;
using namespace chime::host::ofi;
using Kind = HostRequest::Kind;

constexpr std::uint64_t kPass = 7;
constexpr std::size_t kHeapBytes = 256;
constexpr std::size_t kRequests = 7;

void must(bool holds) {
  if (!holds) std::abort();
}

// Memory that a sanitizer watches.
class Heap final : public WordOwner {
 public:
  std::span<std::byte> bytes() { return {words_.get(), kHeapBytes}; }

  std::uint64_t update(std::uint64_t at, const WordUpdate& update) override {
    must(update.op <= AmoOp::kCompareSwap && (update.bytes == 4 || update.bytes == 8));
    must(at % update.bytes == 0 && at < kHeapBytes && kHeapBytes - at >= update.bytes);
    std::memset(&words_[at], 1, update.bytes);
    return 1;
  }
  void write(std::uint64_t at, std::span<const std::byte> data) override {
    must(at < kHeapBytes && kHeapBytes - at >= data.size());
    if (!data.empty()) std::memcpy(&words_[at], data.data(), data.size());
  }

 private:
  std::unique_ptr<std::byte[]> words_ = std::make_unique<std::byte[]>(kHeapBytes);
};

class Play {
 public:
  explicit Play(bool keeps_order) {
    wire_.the_facts.keeps_order = keeps_order;
    driver_.emplace(Driver::Place{0, 3, heap_.bytes(), kPass, {}, true}, gpu(), wire_, requests_,
                    batches_);
    driver_->serve(heap_);
    for (const int pe : {1, 2}) driver_->add_peer(pe, {.pass = 8, .takes_puts = true});
    post_all();
    poll();
  }

  void arrive(std::uint8_t how, std::span<const std::uint8_t> content) {
    std::vector<std::byte> bytes(content.size());
    std::ranges::copy(std::as_bytes(content), bytes.begin());
    if (bytes.size() >= sizeof(BatchHead)) make_head(how, bytes);
    must(wire_.arrive(bytes));
    poll();
  }

  // All remaining requests end by the wire's completions, and by loss.
  void end() {
    for (Request* const transfer : wire_.transfers) wire_.tells.push_back({transfer, 0});
    wire_.transfers.clear();
    poll();
    for (const int pe : {1, 2}) driver_->fail(pe);
    poll();
    for (const int times : ended_) must(times == 1);
  }

 private:
  static Gpu& gpu() {
    static const std::unique_ptr<Gpu> one = open_simt_gpu();
    return *one;
  }

  static void make_head(std::uint8_t how, std::vector<std::byte>& bytes) {
    BatchHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    if ((how & 1) != 0) head.pass = kPass;
    if ((how & 2) != 0) head.from = (how & 4) != 0 ? 1 : 2;
    if ((how & 8) != 0) head.bytes = static_cast<std::uint32_t>(bytes.size() - sizeof head);
    std::memcpy(bytes.data(), &head, sizeof head);
  }

  void post(const HostRequest& request) { must(driver_->post(request, posted_++)); }
  void post_all() {
    post({Kind::kPut, 1, 0, heap_.bytes().data(), 200});  // a transfer
    post({Kind::kAtomic, 1, 8, result(), 0, {AmoOp::kAdd, 8, 1, 0}});
    post({Kind::kPut, 1, 0, heap_.bytes().data(), 8});
    post({Kind::kAtomic, 1, 8, result(), 0, {AmoOp::kSet, 4, 1, 0}});
    post({Kind::kPut, 2, 0, heap_.bytes().data(), 16});
    post({Kind::kAtomic, 2, 16, nullptr, 0, {AmoOp::kXor, 8, 1, 0}});
    HostRequest both{Kind::kPut, 2, 32, heap_.bytes().data(), 8, {AmoOp::kAdd, 8, 1, 0}};
    must(driver_->joins_signal(both));
    both.has_signal = true;
    both.signal_at = 40;
    post(both);
  }
  std::byte* result() { return reinterpret_cast<std::byte*>(&results_[posted_]); }

  void poll() {
    std::array<HostDriven::Ended, 4> some;
    while (const std::size_t count = driver_->poll(some))
      for (const auto& one : std::span(some).first(count))
        must(one.completion < kRequests && ++ended_[one.completion] == 1);
  }

  Heap heap_;
  std::array<std::uint64_t, kRequests> results_{};
  std::array<int, kRequests> ended_{};
  std::uint64_t posted_ = 0;
  test::FakeWire wire_;
  Requests requests_;
  BatchPool batches_;
  std::optional<Driver> driver_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> rest(data, size);
  Play play(size % 2 == 0);
  while (rest.size() >= 3) {
    const std::uint8_t how = rest[0];
    const std::size_t wanted = rest[1] | std::size_t{rest[2]} << 8;
    rest = rest.subspan(3);
    const auto content = rest.first(std::min({wanted, rest.size(), kBatchBytes}));
    rest = rest.subspan(content.size());
    play.arrive(how, content);
  }
  play.end();
  return 0;
}
