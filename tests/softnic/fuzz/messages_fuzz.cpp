// Any messages to the kernel and any firmware mailboxes, in any order: the NIC answers or refuses
// them.
//
// Input: a list of steps, each a byte with its kind and then its data. Buffers of messages have
// exact sizes. Memory that a message may name as its own (queues, regions) lies at kArena in every
// run, so that inputs can name it.

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "softnic/firmware/commands.hpp"
#include "softnic/kernel/uverbs.hpp"
#include "softnic/observe/settings.hpp"

namespace {

using namespace softnic;

constexpr std::uintptr_t kArena = 0x10000000;
constexpr std::size_t kArenaBytes = 1 << 20;
constexpr unsigned kMaxAttributes = 16;
constexpr std::size_t kMaxBytes = 4096;  // of one attribute or mailbox

// A NIC without neighbours.
class NoLink final : public Link {
 public:
  std::uint32_t address() const override { return 1; }
  Reach begin(std::uint32_t, std::uint32_t, std::byte**) override { return Reach::kGone; }
  void commit(const PacketHeader&) override {}
  bool is_alive(std::uint32_t) override { return false; }
  unsigned poll(const Receive&, unsigned) override { return 0; }
  bool fall_asleep(std::chrono::nanoseconds) override { return false; }
  void sleep() override {}
  void wake_up() override {}
  void housekeeping() override {}
  void leave() override {}
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool is_empty() const { return at_ == end_; }
  template <class T>
  T take() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  // Missing input leaves its field unchanged.
  void take(void* to, std::size_t bytes) {
    bytes = std::min<std::size_t>(bytes, static_cast<std::size_t>(end_ - at_));
    if (bytes) std::memcpy(to, at_, bytes);
    at_ += bytes;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

enum Step : std::uint8_t { kIoctl, kMailbox, kClose, kTurn, kSteps };
enum Place : std::uint8_t { kInline, kBuffer, kNull, kWild, kPlaces };

// ASan's shadow may be read, but not by instrumented code: such a read is no finding.
constexpr bool is_of_sanitizer(std::uint64_t address) {
  return address >= 0x7fff8000 && address < 0x10007fff8000;
}

// An ioctl and the buffers that it points to. Header and attributes are one allocation of exact
// size.
struct Built {
  explicit Built(Input& in) {
    const auto object = in.take<std::uint16_t>();
    const auto method = in.take<std::uint16_t>();
    const unsigned count = in.take<std::uint8_t>() % kMaxAttributes;
    const std::size_t bytes = sizeof(ib_uverbs_ioctl_hdr) + count * sizeof(ib_uverbs_attr);
    message = std::make_unique<std::byte[]>(bytes);
    header()->length = static_cast<std::uint16_t>(bytes);
    header()->object_id = object;
    header()->method_id = method;
    header()->num_attrs = static_cast<std::uint16_t>(count);
    header()->driver_id = RDMA_DRIVER_MLX5;
    for (unsigned i = 0; i < count; ++i) build(in, header()->attrs[i]);
  }
  ib_uverbs_ioctl_hdr* header() { return reinterpret_cast<ib_uverbs_ioctl_hdr*>(message.get()); }

  void build(Input& in, ib_uverbs_attr& attribute) {
    attribute.attr_id = in.take<std::uint16_t>();
    const auto place = in.take<std::uint8_t>() % kPlaces;
    attribute.len = static_cast<std::uint16_t>(in.take<std::uint16_t>() % (kMaxBytes + 1));
    if (place == kWild) attribute.data = 8;
    if (place == kInline) in.take(&attribute.data, 8);
    if (attribute.len > 8 && is_of_sanitizer(attribute.data)) attribute.data = 8;
    if (place != kBuffer) return;
    buffers.push_back(std::make_unique<std::byte[]>(attribute.len));
    in.take(buffers.back().get(), attribute.len);
    if (attribute.len > 0 && attribute.len <= 8 && in.take<std::uint8_t>() % 2)
      std::memcpy(&attribute.data, buffers.back().get(), attribute.len);
    else
      attribute.data = reinterpret_cast<std::uint64_t>(buffers.back().get());
  }

  std::unique_ptr<std::byte[]> message;
  std::vector<std::unique_ptr<std::byte[]>> buffers;
};

void run_mailbox(Nic& nic, Input& in) {
  const std::size_t bytes = in.take<std::uint16_t>() % (kMaxBytes + 1);
  const std::size_t out_bytes = in.take<std::uint16_t>() % (kMaxBytes + 1);
  std::vector<std::byte> mailbox(bytes);
  in.take(mailbox.data(), bytes);
  if (bytes >= 16) execute(nic, mailbox, out_bytes);
}

void run_step(Nic& nic, Input& in) {
  const auto step = in.take<std::uint8_t>();
  const int file = step >> 4 & 1 ? 1001 : 1000;  // two programs, or one that opened twice
  switch (step % 16 % kSteps) {
    case kIoctl: {
      Built message(in);
      serve(nic, file, message.header());
      return;
    }
    case kMailbox:
      return run_mailbox(nic, in);
    case kClose:
      return release(nic, file);
    default:
      for (int i = 0; i < 8; ++i) nic.engine().turn();
  }
}

void prepare() {
  Settings settings;
  settings.log = 0;
  use_settings(settings);
  void* const wanted = reinterpret_cast<void*>(kArena);
  if (::mmap(wanted, kArenaBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != wanted)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool prepared = (prepare(), true);
  // All of it is zero again; only what the last run touched costs.
  ::madvise(reinterpret_cast<void*>(kArena), kArenaBytes, MADV_DONTNEED);
  Nic nic(std::make_unique<NoLink>());
  Input in(data, size);
  while (!in.is_empty()) run_step(nic, in);
  release(nic, 1000);
  release(nic, 1001);
  return 0;
}
