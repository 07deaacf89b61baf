// Any bytes as a send queue, a receive queue and a doorbell record: the NIC reads only bytes that
// it may read, and stops.
//
// Input: a head (below), then the send queue's blocks, then the receive queue's entries. The queue
// pair is connected to itself. Keys and addresses are the same in every run, so that inputs can
// name them: region 0x10ab at 0x10000 (all access), 0x11ab at 0x20000 (local read only).

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "softnic/engine/engine.hpp"
#include "softnic/observe/settings.hpp"

namespace {

using namespace softnic;

constexpr std::uint32_t kNic = 1, kPd = 0x1000;
constexpr std::uint32_t kSendBlocks = 16, kReceiveEntries = 4, kReceiveShift = 6;
constexpr std::size_t kRegionBytes = 4096;
constexpr int kMaxTurns = 10'000;  // it stops after far fewer

struct Head {
  std::uint8_t transport;    // RC, UC, UD
  std::uint8_t flags;        // below
  std::uint16_t posted;      // blocks that the doorbell record names
  std::uint8_t received;     // receive WQEs posted
  std::uint8_t completions;  // log2 of the completion queue's entries
};
constexpr std::uint8_t kCollapsed = 1, kWide = 2, kOverrunIgnored = 4;
// Control segments get the right queue pair number and index, so that a change of one byte passes
// the first check.
constexpr std::uint8_t kMended = 8;

// The wire of a NIC that is alone.
class LoopbackLink final : public Link {
 public:
  std::uint32_t address() const override { return kNic; }
  Reach begin(std::uint32_t nic, std::uint32_t bytes, std::byte** payload) override {
    if (nic != kNic) return Reach::kGone;
    if (waiting_.size() >= 64) return Reach::kFull;
    filling_.assign(bytes, std::byte{});
    *payload = filling_.data();
    return Reach::kReady;
  }
  void commit(const PacketHeader& header) override { waiting_.push_back({header, filling_}); }
  bool is_alive(std::uint32_t nic) override { return nic == kNic; }
  unsigned poll(const Receive& receive, unsigned budget) override {
    unsigned done = 0;
    for (; done < budget && !waiting_.empty(); ++done) {
      const auto [header, payload] = std::move(waiting_.front());
      waiting_.pop_front();
      receive(header, payload.data());
    }
    return done;
  }
  bool fall_asleep(std::chrono::nanoseconds) override { return false; }
  void sleep() override {}
  void wake_up() override {}
  void housekeeping() override {}
  void leave() override {}

 private:
  std::deque<std::pair<PacketHeader, std::vector<std::byte>>> waiting_;
  std::vector<std::byte> filling_;
};

int bar() {
  static const int fd = [] {
    const int made = ::memfd_create("fuzz-bar", MFD_CLOEXEC);
    if (made < 0 || ::ftruncate(made, 1 << 20) != 0) std::abort();
    return made;
  }();
  return fd;
}

// A separate allocation, so that ASan sees one byte too far.
struct Memory {
  explicit Memory(std::size_t size) : bytes(std::make_unique<std::byte[]>(size)) {}
  std::unique_ptr<std::byte[]> bytes;
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes.get()); }
};

struct Machine {
  explicit Machine(const Head& head)
      : completions(64u << (head.completions % 6) << (head.flags & kWide ? 1 : 0)),
        device(kNic, bar()),
        engine(device, std::make_unique<LoopbackLink>(), "") {
    device.add_region(region(all, 0x10000, 0xf));
    device.add_region(region(read_only, 0x20000, 0));
    page = device.add_uar();
    CompletionQueue cq;
    cq.ring = completions.bytes.get();
    cq.records = reinterpret_cast<std::uint32_t*>(records.bytes.get());
    cq.entries = 1u << (head.completions % 6);
    cq.entry_bytes = head.flags & kWide ? 128 : 64;
    cq.collapsed = head.flags & kCollapsed;
    cq.overrun_ignored = head.flags & kOverrunIgnored;
    cq.uar_page = page->page;
    const std::uint32_t cqn = device.add_cq(cq).cqn;
    QueuePair made;
    made.pd = kPd;
    made.transport = static_cast<Transport>(head.transport % 3);
    made.state = QpState::kRts;
    made.uar_page = page->page;
    made.send_ring = send.bytes.get();
    made.send_blocks = kSendBlocks;
    made.receive_ring = receive.bytes.get();
    made.receive_entries = kReceiveEntries;
    made.receive_shift = kReceiveShift;
    made.records = reinterpret_cast<std::uint32_t*>(records.bytes.get() + 8);
    made.send_cqn = made.receive_cqn = cqn;
    made.access = 0xf;
    made.rnr_retry = 1;
    made.min_rnr_timer = 1;  // 10 us: a turn or two
    qp = device.add_qp(std::move(made));
    qp->remote_qpn = qp->qpn;
  }

  static MemoryRegion region(const Memory& memory, std::uint64_t iova, std::uint32_t access) {
    MemoryRegion region;
    region.pd = kPd;
    region.start = memory.address();
    region.bytes = kRegionBytes;
    region.iova = iova;
    region.access = access;
    return region;
  }

  void post(const Head& head, std::span<const std::byte> bytes) {
    const std::size_t sent = std::min<std::size_t>(bytes.size(), kSendBlocks * kBlock);
    std::memcpy(send.bytes.get(), bytes.data(), sent);
    bytes = bytes.subspan(sent);
    if (!bytes.empty())
      std::memcpy(receive.bytes.get(), bytes.data(),
                  std::min<std::size_t>(bytes.size(), kReceiveEntries << kReceiveShift));
    if (head.flags & kMended) mend();
    store_be32(&qp->records[0], head.received % (kReceiveEntries + 1));
    // More than a ring is an overrun; a larger overrun shows nothing new and takes long.
    store_be32(&qp->records[1], head.posted % (3 * kSendBlocks));
  }
  void mend() {
    for (std::uint32_t block = 0; block < kSendBlocks;) {
      std::byte* control = send.bytes.get() + block * kBlock;
      store_be16(control + 1, static_cast<std::uint16_t>(block));
      const std::uint32_t segments = segments_of(control);
      store_be32(control + 4, qp->qpn << 8 | segments);
      block += std::max(1u, (segments + 3) / 4);
    }
  }

  void ring() {
    std::byte value[8] = {};
    store_be32(value + 4, qp->qpn << 8);
    page->words[0x800 / 8] = load<std::uint64_t>(value);
  }

  bool comes_to_rest() {
    int idle = 0;
    for (int turn = 0; turn < kMaxTurns; ++turn) {
      idle = engine.turn() ? 0 : idle + 1;
      if (idle > 3) return true;
    }
    return false;
  }

  Memory all{kRegionBytes}, read_only{kRegionBytes}, completions;
  Memory send{kSendBlocks * kBlock}, receive{kReceiveEntries << kReceiveShift}, records{16};
  Device device;
  Engine engine;
  Uar* page = nullptr;
  QueuePair* qp = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool quiet = [] {
    Settings settings;
    settings.log = 0;
    settings.strict = false;  // requests that only strict mode refuses reach the engine here
    use_settings(settings);
    return true;
  }();
  Head head;
  if (size < sizeof head) return -1;
  std::memcpy(&head, data, sizeof head);
  Machine machine(head);
  machine.post(head, std::as_bytes(std::span(data, size)).subspan(sizeof head));
  machine.ring();
  if (machine.comes_to_rest()) return 0;
  std::fprintf(stderr, "the engine does not come to rest\n");
  std::abort();
}
