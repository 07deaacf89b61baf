#include "null_nic.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "chime/abi/words.h"

namespace chime::tests {
namespace {

constexpr std::uint64_t kHeapNic = 0x10'0000'0000, kStagingNic = 0x20'0000'0000;
constexpr std::uint64_t kFetchNic = 0x30'0000'0000, kBufferNic = 0x40'0000'0000;
constexpr std::uint32_t kHeapKey = 0x1100, kStagingKey = 0x1200, kFetchKey = 0x1300;
constexpr std::uint32_t kBufferKey = 0x1400, kDataKey = 0xd000, kStrictKey = 0x5000;
constexpr std::uint32_t kFirstQpn = 0x4200;

constexpr unsigned kLocalProtection = 0x04, kFlushed = 0x05, kRemoteAccess = 0x13;

std::uint32_t load32(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_RELAXED);
}

template <class Word>
void store_words(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from + i, sizeof(Word));
    __atomic_store_n(reinterpret_cast<Word*>(to + i), word, __ATOMIC_RELEASE);
  }
}

// Whole words of 4 and 8 bytes, as a NIC writes them.
void copy_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::uintptr_t ends = reinterpret_cast<std::uintptr_t>(to) | bytes;
  if (ends % 8 == 0) return store_words<std::uint64_t>(to, from, bytes);
  if (ends % 4 == 0) return store_words<std::uint32_t>(to, from, bytes);
  std::memcpy(to, from, bytes);
}

// The sum without carries out of the bits in `boundary`.
std::uint64_t masked_sum(std::uint64_t a, std::uint64_t b, std::uint64_t boundary, unsigned bits) {
  std::uint64_t sum = 0, carry = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const std::uint64_t column = (a >> i & 1) + (b >> i & 1) + carry;
    sum |= (column & 1) << i;
    carry = (boundary >> i & 1) != 0 ? 0 : column >> 1;
  }
  return sum;
}

}  // namespace

struct NullNic::Queue {
  abi::Channel* abi;
  int pe = -1;  // the PE that it leads to
  std::uint32_t qpn;
  std::vector<std::byte> memory, cq;
  std::uint32_t record = 0;
  std::uint64_t doorbell = 0;
  std::vector<abi::NicFetchSlot> fetch;

  std::uint64_t next, end;  // the requests to carry out
  std::uint64_t rung;       // by the last doorbell
  std::uint64_t cqes;
  std::uint64_t seen_doorbell = 0;
  std::byte* late_to = nullptr;  // of a write that others overtake, and its data
  std::vector<std::byte> late;
  bool broken = false, fails = false;
  std::uint64_t fail_index = 0;
  unsigned fail_syndrome = 0;
  Counts counts;
};

// A work request taken out of the ring, with its words as numbers.
struct NullNic::Wqe {
  std::array<std::byte, 63 * 16> bytes;
  std::uint32_t word(std::size_t at) const {
    std::uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    return be32toh(value);
  }
  std::uint64_t long_word(std::size_t at) const {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + at, 8);
    return be64toh(value);
  }
  unsigned opcode() const { return word(0) & 0xff; }
  unsigned opmod() const { return word(0) >> 24; }
  unsigned index() const { return word(0) >> 8 & 0xffff; }
  unsigned segments() const { return word(4) & 0x3f; }
  std::uint32_t qpn() const { return word(4) >> 8; }
  unsigned ce() const { return std::to_integer<unsigned>(bytes[11]) & 0xc; }
  unsigned wqebbs() const { return (segments() + 3) / 4; }
};

NullNic::NullNic(FakeJob& job, int n_pes, const NicPlan& plan)
    : plan_(plan), n_pes_(n_pes), buffer_(kBufferBytes) {
  set_up_peers(job);
  const std::size_t queues = static_cast<std::size_t>(n_pes) * plan.slots;
  const std::size_t channels = plan.first + (queues + 63) / 64 * 64;
  queues_ = std::make_unique<abi::Channel[]>(channels);
  state_.resize(queues);
  faults_.resize(queues);
  touched_.resize(channels / 64);
  channels_.pool = {queues_.get(), touched_.data(), &watch_, static_cast<std::uint32_t>(channels)};
  channels_.route = route_.data();
  channels_.first = plan.first;
  channels_.count = static_cast<std::uint32_t>(channels) - plan.first;
  channels_.slots = plan.slots;
  memory_.buffers = &buffers_;
  for (int pe = 0; pe < n_pes; ++pe)
    for (unsigned slot = 0; slot < plan.slots; ++slot) set_up_queue(pe, slot);
  mark_memory();
  thread_ = std::thread([this] { run(); });
}

NullNic::~NullNic() {
  end_ = true;
  thread_.join();
}

void NullNic::set_up_peers(FakeJob& job) {
  for (int pe = 0; pe < n_pes_; ++pe) {
    const std::uint32_t first = plan_.first + static_cast<std::uint32_t>(pe) * plan_.slots;
    route_.push_back(abi::route_word(Path::kNic, first));
    heaps_.push_back({kHeapNic, job.context(pe).pe.heap, kFakeHeapBytes, 0});
  }
  const auto here = [](std::byte* memory, std::size_t bytes, std::uint64_t nic, std::uint32_t key) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    return abi::NicBuffer{begin, begin + bytes, nic, htobe32(key), 0};
  };
  memory_.heap = here(heaps_[0].memory, kFakeHeapBytes, kHeapNic, kHeapKey);
  registered_ = here(buffer_.data(), kBufferBytes, kBufferNic, kBufferKey);
  buffers_.tables[0] = {1, &registered_};
  const std::size_t staging_bytes = plan_.staging_slots * plan_.staging_slot_bytes;
  staging_ = std::make_unique<std::byte[]>(staging_bytes);
  staging_busy_.resize(plan_.staging_slots + 1);
  memory_.staging.memory = staging_.get();
  memory_.staging.nic = kStagingNic;
  memory_.staging.busy = staging_busy_.data();
  memory_.staging.lkey_be = htobe32(kStagingKey);
  memory_.staging.slots = plan_.staging_slots;
  memory_.staging.slot_bytes = plan_.staging_slot_bytes;
  locals_ = {{kHeapNic, heaps_[0].memory, kFakeHeapBytes, kHeapKey},
             {kBufferNic, buffer_.data(), kBufferBytes, kBufferKey},
             {kStagingNic, staging_.get(), staging_bytes, kStagingKey}};
}

void NullNic::set_up_queue(int pe, unsigned slot) {
  const std::size_t i = static_cast<std::size_t>(pe) * plan_.slots + slot;
  state_[i] = std::make_unique<Queue>();
  Queue& state = *state_[i];
  const std::size_t cqes =
      plan_.mode == abi::NicCqMode::kCollapsed ? 1 : std::size_t{2} * plan_.depth;
  state.qpn = kFirstQpn + static_cast<std::uint32_t>(i);
  state.memory.resize(std::size_t{64} * plan_.depth);
  state.cq.assign(64 * cqes, std::byte{0xff});
  state.fetch.resize(plan_.depth + 1);
  state.next = state.end = state.rung = plan_.start;
  state.cqes = plan_.cq_start;
  abi::Channel& queue = queues_[plan_.first + i];
  state.abi = &queue;
  state.pe = pe;
  queue.head.ring = state.memory.data();
  queue.nic.bell.record = &state.record;
  queue.nic.bell.doorbell = &state.doorbell;
  queue.nic.cq.cqes = state.cq.data();
  queue.nic.peer = {kHeapNic, htobe32(kDataKey + static_cast<std::uint32_t>(pe)),
                    htobe32(kStrictKey + static_cast<std::uint32_t>(pe))};
  queue.nic.fetch = state.fetch.data();
  queue.nic.fetch_nic = kFetchNic + i * 0x1000'0000;
  queue.nic.fetch_lkey_be = htobe32(kFetchKey);
  queue.head.number_be = htobe32(state.qpn << 8);
  queue.head.depth = static_cast<std::uint16_t>(plan_.depth);
  queue.nic.cq.count = static_cast<std::uint32_t>(cqes);
  queue.nic.cq.mode = plan_.mode;
  queue.head.flags = static_cast<std::uint8_t>(plan_.flags);
  queue.pe = pe;
  queue.head.path = Path::kNic;
  queue.fault = &faults_[i];
  queue.watch = &watch_;
  queue.index = plan_.first + static_cast<std::uint32_t>(i);
  queue.producer.resv = queue.producer.ready = plan_.start;
  queue.progress.done = plan_.start | abi::kFresh;
  queue.progress.taken = plan_.cq_start;
  locals_.push_back({queue.nic.fetch_nic, reinterpret_cast<std::byte*>(state.fetch.data()),
                     state.fetch.size() * sizeof(abi::NicFetchSlot), kFetchKey});
}

// As on a GPU whose queues lie in its own memory.
void NullNic::mark_memory() {
  using Kind = simt::MemoryKind;
  kinds_.mark(Kind::kDevice, queues_.get(), channels_.pool.count);
  kinds_.mark(Kind::kDevice, touched_.data(), touched_.size());
  kinds_.mark(Kind::kDevice, &watch_);
  kinds_.mark(Kind::kDevice, route_.data(), route_.size());
  kinds_.mark(Kind::kDevice, staging_busy_.data(), staging_busy_.size());
  kinds_.mark(Kind::kDevice, staging_.get(), plan_.staging_slots * plan_.staging_slot_bytes);
  kinds_.mark(Kind::kHost, faults_.data(), faults_.size());
  kinds_.mark(Kind::kHost, &buffers_);
  kinds_.mark(Kind::kHost, &registered_);
  kinds_.mark(Kind::kHost, buffer_.data(), buffer_.size());
  for (const auto& queue : state_) {
    kinds_.mark(Kind::kDevice, queue->memory.data(), queue->memory.size());
    kinds_.mark(Kind::kDevice, queue->cq.data(), queue->cq.size());
    kinds_.mark(Kind::kDevice, queue->fetch.data(), queue->fetch.size());
    kinds_.mark(Kind::kDevice, &queue->record);
    kinds_.mark(Kind::kBar, &queue->doorbell);
  }
}

abi::Channel& NullNic::queue(int pe, unsigned slot) {
  return queues_[plan_.first + static_cast<std::size_t>(pe) * plan_.slots + slot];
}
std::uint16_t NullNic::rung(int pe, unsigned slot) {
  const std::uint64_t doorbell =
      __atomic_load_n(queue(pe, slot).nic.bell.doorbell, __ATOMIC_ACQUIRE);
  return static_cast<std::uint16_t>(be32toh(static_cast<std::uint32_t>(doorbell)) >> 8);
}
const abi::ChannelFault& NullNic::fault(int pe, unsigned slot) {
  return faults_[static_cast<std::size_t>(pe) * plan_.slots + slot];
}

void NullNic::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}
void NullNic::go_on() {
  const std::lock_guard lock(mutex_);
  held_ = false;
}

void NullNic::watch(std::function<void()> look) {
  const std::lock_guard lock(mutex_);
  look_ = std::move(look);
}

void NullNic::note_only() {
  const std::lock_guard lock(mutex_);
  notes_only_ = true;
}
std::vector<NullNic::Transfer> NullNic::noted() {
  const std::lock_guard lock(mutex_);
  return noted_;
}

void NullNic::note(const Wqe& wqe) {
  const bool is_inline = (wqe.word(32) >> 31) != 0;
  noted_.push_back({wqe.opcode(), wqe.long_word(16), is_inline ? 0 : wqe.long_word(40),
                    wqe.word(32) & 0x7fffffff});
}

void NullNic::fail_at(int pe, std::uint64_t index, unsigned syndrome) {
  const std::lock_guard lock(mutex_);
  Queue& queue = *state_[static_cast<std::size_t>(pe) * plan_.slots];
  queue.fails = true;
  queue.fail_index = index;
  queue.fail_syndrome = syndrome;
}

NullNic::Counts NullNic::counts(int pe, unsigned slot) {
  const std::lock_guard lock(mutex_);
  return state_[static_cast<std::size_t>(pe) * plan_.slots + slot]->counts;
}

std::string NullNic::complaints() {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

void NullNic::complain(const Queue& queue, const std::string& what) {
  complaints_ += "queue to PE " + std::to_string(queue.pe) + ", request " +
                 std::to_string(queue.next) + ": " + what + "\n";
}

// One request of each queue in turn.
void NullNic::run() {
  while (!end_) {
    bool worked = false;
    {
      const std::lock_guard lock(mutex_);
      for (auto& queue : state_) worked |= !held_ && !rests() && step(*queue);
    }
    if (!worked) std::this_thread::yield();
  }
}

bool NullNic::rests() { return plan_.is_lazy && random_() % 4 != 0; }

bool NullNic::step(Queue& queue) {
  const std::uint64_t doorbell = __atomic_load_n(&queue.doorbell, __ATOMIC_ACQUIRE);
  const bool is_rung = doorbell != queue.seen_doorbell;
  if (is_rung || queue.next != queue.end) look_ahead(queue, doorbell);
  if (queue.end - queue.next > plan_.depth) complain(queue, "more requests than room");
  if (queue.next == queue.end) return false;
  execute(queue);
  return true;
}

// Takes requests up to the record, also during work: its doorbell may be yet to come.
void NullNic::look_ahead(Queue& queue, std::uint64_t doorbell) {
  const std::uint32_t record = be32toh(__atomic_load_n(&queue.record, __ATOMIC_ACQUIRE));
  const std::uint32_t index = be32toh(static_cast<std::uint32_t>(doorbell)) >> 8;
  const auto ahead_of = [](std::uint64_t before, std::uint32_t after) {
    return static_cast<std::int16_t>(after - static_cast<std::uint32_t>(before));
  };
  if (doorbell != queue.seen_doorbell) {
    const auto more = ahead_of(queue.rung, index);
    if (be32toh(static_cast<std::uint32_t>(doorbell >> 32)) >> 8 != queue.qpn)
      complain(queue, "doorbell of another queue pair");
    if (more < 0) complain(queue, "the doorbell went back");
    if (ahead_of(index, record) < 0) complain(queue, "the record is behind the doorbell");
    queue.seen_doorbell = doorbell;
    queue.rung += static_cast<std::uint64_t>(more);
  }
  const auto recorded = ahead_of(queue.end, record);
  if (recorded > 0) queue.end += static_cast<std::uint64_t>(recorded);
}

void NullNic::execute(Queue& queue) {
  Wqe wqe{};
  const std::size_t ring = queue.memory.size();
  for (std::size_t i = 0; i < 16 || (i < 16 * wqe.segments() && i < wqe.bytes.size()); i += 4) {
    const std::uint32_t word = load32(queue.memory.data() + (queue.next * 64 + i) % ring);
    std::memcpy(wqe.bytes.data() + i, &word, 4);
  }
  if (wqe.index() != (queue.next & 0xffff) || wqe.qpn() != queue.qpn || wqe.segments() == 0) {
    complain(queue, "not a request: index " + std::to_string(wqe.index()) + ", " +
                        std::to_string(wqe.segments()) + " segments");
    queue.next = queue.end;
    return;
  }
  ++queue.counts.requests;
  unsigned syndrome = queue.broken ? kFlushed : 0;
  if (!syndrome && queue.fails && queue.fail_index == queue.next) syndrome = queue.fail_syndrome;
  if (!syndrome) syndrome = carry_out(queue, wqe);
  if (look_) look_();
  if (wqe.ce() == 8) place_late(queue);
  queue.broken |= syndrome != 0;
  if (syndrome || wqe.ce() == 8) complete(queue, wqe, syndrome);
  queue.next += wqe.wqebbs();
}

std::byte* NullNic::local(std::uint64_t address, std::uint32_t key, std::size_t bytes) const {
  for (const Range& range : locals_)
    if (range.key == key && address >= range.nic && address - range.nic + bytes <= range.bytes)
      return range.memory + (address - range.nic);
  return nullptr;
}

std::byte* NullNic::remote(std::uint64_t address, std::uint32_t key, std::size_t bytes,
                           int pe) const {
  const auto number = static_cast<std::uint32_t>(pe);
  if (key != kDataKey + number && key != kStrictKey + number) return nullptr;
  const Range& heap = heaps_[number];
  if (address < heap.nic || address - heap.nic + bytes > heap.bytes) return nullptr;
  return heap.memory + (address - heap.nic);
}

// One write at a time waits: later ones pass it.
void NullNic::write(Queue& queue, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (!plan_.reorders || queue.late_to || random_() % 2 != 0) return copy_whole(to, from, bytes);
  queue.late_to = to;
  queue.late.assign(from, from + bytes);
}

// Requests other than writes, and completions, follow all earlier writes.
void NullNic::place_late(Queue& queue) {
  if (!queue.late_to) return;
  copy_whole(queue.late_to, queue.late.data(), queue.late.size());
  queue.late_to = nullptr;
}

unsigned NullNic::carry_out(Queue& queue, const Wqe& wqe) {
  if (notes_only_) return note(wqe), 0;
  const unsigned opcode = wqe.opcode();
  const std::uint64_t there = wqe.long_word(16);
  const std::uint32_t rkey = wqe.word(24);
  const int pe = queue.pe;
  if (opcode == 0x08 || opcode == 0x10) {
    const std::uint32_t bytes = wqe.word(32) & 0x7fffffff;
    const bool is_inline = (wqe.word(32) >> 31) != 0;
    std::byte* const far = remote(there, rkey, bytes, pe);
    if (!far) return kRemoteAccess;
    if (is_inline && 36 + std::size_t{bytes} > 16 * wqe.segments())
      complain(queue, "inline data past the request's end");
    if (is_inline && rkey != kStrictKey + static_cast<std::uint32_t>(pe))
      complain(queue, "a small put, which may be a flag, with a key that lets it overtake");
    if (is_inline) return write(queue, far, wqe.bytes.data() + 36, bytes), 0;
    std::byte* const near = local(wqe.long_word(40), wqe.word(36), bytes);
    if (!near) return kLocalProtection;
    if (opcode == 0x08) return write(queue, far, near, bytes), 0;
    place_late(queue);
    copy_whole(near, far, bytes);
    return 0;
  }
  place_late(queue);
  if (opcode == 0x23) {
    ++queue.counts.dumps;
    if ((std::to_integer<unsigned>(wqe.bytes[11]) & 0xe0) != 0x80)
      complain(queue, "a dump that does not wait for reads");
    return local(wqe.long_word(24), wqe.word(20), wqe.word(16)) ? 0 : kLocalProtection;
  }
  const bool masked = opcode == 0x14 || opcode == 0x15;
  const bool swaps = opcode == 0x11 || opcode == 0x14;
  if (!masked && opcode != 0x11 && opcode != 0x12) {
    complain(queue, "opcode " + std::to_string(opcode));
    return kLocalProtection;
  }
  const unsigned bytes = masked && wqe.opmod() == 0x08 ? 4 : 8;
  if (masked && bytes == 8 && wqe.opmod() != 0x09) complain(queue, "opmod of a masked atomic");
  if (rkey != kStrictKey + static_cast<std::uint32_t>(pe))
    complain(queue, "an atomic with a key that lets it overtake");
  if (there % bytes != 0) complain(queue, "a misaligned atomic");
  std::byte* const far = remote(there, rkey, bytes, pe);
  if (!far) return kRemoteAccess;
  const auto operand = [&](unsigned i) {
    return bytes == 4 ? wqe.word(32 + 4 * i) : wqe.long_word(32 + 8 * i);
  };
  const std::uint64_t all = bytes == 4 ? 0xffffffffu : ~std::uint64_t{0};
  const std::uint64_t swap_mask = masked ? operand(2) : all, mask = masked ? operand(3) : all;
  const auto next = [&](std::uint64_t old) {
    if (!swaps) return masked_sum(old, operand(0), masked ? operand(1) : 0, 8 * bytes);
    if ((old & mask) != (operand(1) & mask)) return old;
    return (old & ~swap_mask) | (operand(0) & swap_mask);
  };
  std::uint64_t old = 0;
  if (bytes == 4) {
    auto* const word = reinterpret_cast<std::uint32_t*>(far);
    old = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, static_cast<std::uint32_t>(next(old)), __ATOMIC_RELEASE);
  } else {
    auto* const word = reinterpret_cast<std::uint64_t*>(far);
    old = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, next(old), __ATOMIC_RELEASE);
  }
  const std::size_t result = 32 + (bytes == 8 && opcode == 0x14 ? 32 : 16);
  if (wqe.word(result) != bytes) complain(queue, "length of an atomic's result");
  std::byte* const near = local(wqe.long_word(result + 8), wqe.word(result + 4), bytes);
  if (!near) return kLocalProtection;
  if (bytes == 4) {
    const auto small = static_cast<std::uint32_t>(old);
    const std::uint32_t word = (plan_.flags & abi::kNicResult4Big) ? htobe32(small) : small;
    copy_whole(near, reinterpret_cast<const std::byte*>(&word), 4);
  } else {
    const std::uint64_t word = (plan_.flags & abi::kNicResult8Big) ? htobe64(old) : old;
    copy_whole(near, reinterpret_cast<const std::byte*>(&word), 8);
  }
  return 0;
}

void NullNic::complete(Queue& queue, const Wqe& wqe, unsigned syndrome) {
  ++queue.counts.completions;
  const std::uint64_t entries = queue.cq.size() / 64;
  std::byte* const cqe = queue.cq.data() + 64 * (queue.cqes % entries);
  const unsigned owner = queue.cqes / entries % 2;
  const auto put = [&](std::size_t at, std::uint32_t value, int order) {
    auto* const word = reinterpret_cast<std::uint32_t*>(cqe + at);
    __atomic_store_n(word, htobe32(value), order);
  };
  put(52, 0x00007700u | syndrome, __ATOMIC_RELAXED);
  put(56, wqe.opcode() << 24 | queue.qpn, __ATOMIC_RELAXED);
  put(60, wqe.index() << 16 | (syndrome ? 0xd0u : 0u) | owner, __ATOMIC_RELEASE);
  ++queue.cqes;
}

}  // namespace chime::tests
