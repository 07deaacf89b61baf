#include "fake_proxy.hpp"

#include <algorithm>
#include <cstring>

#include "chime/abi/words.h"

namespace chime::tests {
namespace {

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

template <class Word>
Word updated(Word before, AmoOp op, Word operand, Word compare) {
  switch (op) {
    case AmoOp::kFetch:
      return before;
    case AmoOp::kSet:
      return operand;
    case AmoOp::kAdd:
      return static_cast<Word>(before + operand);
    case AmoOp::kAnd:
      return before & operand;
    case AmoOp::kOr:
      return before | operand;
    case AmoOp::kXor:
      return before ^ operand;
    case AmoOp::kCompareSwap:
      return before == compare ? operand : before;
  }
  return before;
}

template <class Word>
std::uint64_t update_word(std::byte* at, AmoOp op, std::uint64_t operand, std::uint64_t compare) {
  auto* const word = reinterpret_cast<Word*>(at);
  Word before = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(
      word, &before,
      updated<Word>(before, op, static_cast<Word>(operand), static_cast<Word>(compare)), false,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return before;
}

bool is_put(const abi::ProxyRequest& what) {
  return what.kind == abi::ProxyKind::kPut || what.kind == abi::ProxyKind::kPutValue;
}
bool is_atomic(const abi::ProxyRequest& what) {
  return what.kind == abi::ProxyKind::kAtomic || what.kind == abi::ProxyKind::kFetchAtomic;
}

}  // namespace

struct FakeProxy::Shared {
  Shared(std::uint32_t depth, std::uint32_t answers)
      : slots(depth), answers(answers), busy(depth) {}
  std::vector<abi::ProxySlot> slots;
  std::vector<abi::ProxyAnswer> answers;
  abi::ProxyReport report{};
  std::vector<std::uint64_t> busy;
};

FakeProxy::FakeProxy(FakeJob& job, int n_pes, const ProxyPlan& plan)
    : plan_(plan),
      n_pes_(n_pes),
      pool_(std::make_unique<abi::Channel[]>(64)),
      faults_(plan.fifos),
      lost_bits_(static_cast<std::size_t>(n_pes) / 64 + 1),
      at_limit_bits_(lost_bits_.size()),
      buffer_(kBufferBytes),
      lost_(lost_bits_, n_pes),
      at_limit_(at_limit_bits_),
      status_(static_cast<std::size_t>(n_pes), CHIMEX_OK),
      is_silent_(status_.size()) {
  for (int pe = 0; pe < n_pes; ++pe) heaps_.push_back(job.context(pe).pe.heap);
  route_.assign(static_cast<std::size_t>(n_pes), abi::route_word(Path::kProxy, 0));
  channels_.pool = {pool_.get(), &touched_, &watch_, 64};
  channels_.route = route_.data();
  channels_.count = 64;
  channels_.slots = plan.fifos;
  set_up_memory(job);
  for (unsigned number = 0; number < plan.fifos; ++number) set_up_fifo(number);
  mark_memory();
  thread_ = std::thread([this] { run(); });
}

FakeProxy::~FakeProxy() {
  end_ = true;
  thread_.join();
}

void FakeProxy::set_up_fifo(unsigned number) {
  Shared& shared = *shared_.emplace_back(
      std::make_unique<Shared>(plan_.depth, abi::proxy_answers(plan_.depth, plan_.staging_slots)));
  abi::Channel& channel = pool_[number];
  channel.head = {reinterpret_cast<std::byte*>(shared.slots.data()), 0,
                  static_cast<std::uint16_t>(plan_.depth), static_cast<std::uint8_t>(plan_.flags),
                  Path::kProxy};
  channel.fifo = {.report = &shared.report,
                  .answers = shared.answers.data(),
                  .busy = shared.busy.data(),
                  .lost = lost_bits_.data(),
                  .at_limit = at_limit_bits_.data(),
                  .sleep = nullptr,
                  .reserved = {}};
  channel.pe = -1;
  channel.fault = &faults_[number];
  channel.watch = &watch_;
  channel.index = number;
  channel.progress.done = abi::kFresh;
  consumers_.emplace_back(proxy::FifoMemory{shared.slots, shared.answers, &shared.report}, lost_,
                          at_limit_);
}

void FakeProxy::set_up_memory(FakeJob& job) {
  const auto here = [](std::byte* memory, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    return abi::NicBuffer{begin, begin + bytes, 0, 0, 0};
  };
  memory_.heap = here(job.context().pe.heap, kFakeHeapBytes);
  registered_ = here(buffer_.data(), kBufferBytes);
  buffers_.tables[0] = {1, &registered_};
  memory_.buffers = &buffers_;
  const std::size_t bytes = std::size_t{plan_.staging_slots} * plan_.staging_slot_bytes;
  staging_ = std::make_unique<StagingLine[]>(bytes / sizeof(StagingLine));
  staging_busy_.resize(plan_.staging_slots + 1);
  memory_.staging = {staging_[0].bytes,        0, staging_busy_.data(), 0, plan_.staging_slots,
                     plan_.staging_slot_bytes, 0};
}

void FakeProxy::mark_memory() {
  using enum simt::MemoryKind;
  kinds_.mark(kDevice, pool_.get(), 64);
  kinds_.mark(kDevice, &touched_);
  kinds_.mark(kDevice, route_.data(), route_.size());
  kinds_.mark(kDevice, staging_busy_.data(), staging_busy_.size());
  kinds_.mark(kHost, lost_bits_.data(), lost_bits_.size());
  kinds_.mark(kHost, at_limit_bits_.data(), at_limit_bits_.size());
  for (const auto& shared : shared_) {
    kinds_.mark(kHost, shared->slots.data(), shared->slots.size());
    kinds_.mark(kHost, shared->answers.data(), shared->answers.size());
    kinds_.mark(kHost, &shared->report);
    kinds_.mark(kDevice, shared->busy.data(), shared->busy.size());
  }
}

// Most steps of a late pace move nothing. A yield after each of them would give the processor to
// kernels that spin, and on a busy machine each request would take dozens of their time slices.
void FakeProxy::run() {
  constexpr int kStepsBeforeAYield = 32;
  for (int idle = 0; !end_;) {
    idle = step() ? 0 : idle + 1;
    if (idle < kStepsBeforeAYield) continue;
    std::this_thread::yield();
    idle = 0;
  }
}

bool FakeProxy::step() {
  const std::scoped_lock lock(mutex_);
  if (held_) return false;
  bool has_moved = false;
  for (unsigned number = 0; number < plan_.fifos; ++number) has_moved |= take(number);
  return move_one() || has_moved;
}

bool FakeProxy::take(unsigned number) {
  // So that others may end before it.
  if (plan_.pace != Pace::kAtOnce && random_() % 4 == 0) return false;
  proxy::Fifo::Request* const request = consumers_[number].take();
  if (request == nullptr) return false;
  taken_.push_back(request->what);
  const bool has_data = !is_atomic(request->what);
  on_their_way_.push_back(
      {number, request, !has_data, !is_atomic(request->what) && !request->what.has_signal});
  const std::size_t last = on_their_way_.size() - 1;
  if (plan_.pace != Pace::kAny) {
    while (carry_out(last)) {
    }
    if (plan_.pace == Pace::kAtOnce && on_their_way_[last].is_done()) end(last);
  }
  return true;
}

// One step of any request in flight.
bool FakeProxy::move_one() {
  if (on_their_way_.empty() || (plan_.pace != Pace::kAtOnce && random_() % 8 != 0)) return false;
  const std::size_t at = random_() % on_their_way_.size();
  if (!carry_out(at) && on_their_way_[at].is_done()) end(at);
  return true;
}

// The next step of a request, if it may take one now.
bool FakeProxy::carry_out(std::size_t at) {
  OnItsWay& it = on_their_way_[at];
  const abi::ProxyRequest& what = it.request->what;
  if (it.is_done() || is_silent_[static_cast<std::size_t>(what.pe)]) return false;
  if (status_[static_cast<std::size_t>(what.pe)] != CHIMEX_OK) {
    it.has_put = it.has_updated = true;
    return false;
  }
  if (!it.has_put) {
    move_data(*it.request);
    it.has_put = true;
  } else {
    if (!may_update(at)) return false;
    it.has_updated = true;
    if (what.has_signal) {
      update(what, what.signal.at, what.signal.op, 8, what.signal.operand, 0, nullptr);
    } else {
      update(what, what.at, what.op, what.bytes, what.operand, what.compare, it.request->here);
    }
  }
  if (look_) look_();
  return true;
}

bool FakeProxy::may_update(std::size_t at) const {
  return std::none_of(on_their_way_.begin(), on_their_way_.begin() + static_cast<long>(at),
                      [&](const OnItsWay& before) {
                        return before.request->what.pe == on_their_way_[at].request->what.pe &&
                               is_put(before.request->what) && !before.has_put;
                      });
}

void FakeProxy::end(std::size_t at) {
  const OnItsWay it = on_their_way_[at];
  on_their_way_.erase(on_their_way_.begin() + static_cast<long>(at));
  consumers_[it.fifo].complete(*it.request, status_[static_cast<std::size_t>(it.request->what.pe)]);
}

void FakeProxy::move_data(const proxy::Fifo::Request& request) {
  const abi::ProxyRequest& what = request.what;
  std::byte* const there = at_peer(what, what.at, what.bytes);
  const bool by_address = what.kind == abi::ProxyKind::kPut || what.kind == abi::ProxyKind::kGet;
  if (by_address && !is_known(request.here, what.bytes)) return complain("memory it does not know");
  if (what.bytes == 0 || (!by_address && what.bytes > 16)) return complain("a size of no request");
  if (there == nullptr) return;
  if (is_put(what)) {
    copy_whole(there, request.here, what.bytes);
  } else {
    copy_whole(request.here, there, what.bytes);
  }
}

void FakeProxy::update(const abi::ProxyRequest& what, std::uint64_t at, AmoOp op,
                       std::uint64_t bytes, std::uint64_t operand, std::uint64_t compare,
                       std::byte* before) {
  std::byte* const there = at_peer(what, at, bytes);
  if ((bytes != 4 && bytes != 8) || at % bytes != 0) return complain("no word of an atomic");
  if (there == nullptr) return;
  const std::uint64_t was = bytes == 4 ? update_word<std::uint32_t>(there, op, operand, compare)
                                       : update_word<std::uint64_t>(there, op, operand, compare);
  if (before != nullptr) std::memcpy(before, &was, sizeof was);
}

std::byte* FakeProxy::at_peer(const abi::ProxyRequest& what, std::uint64_t at,
                              std::uint64_t bytes) {
  const bool exists = what.pe >= 0 && what.pe < n_pes_;
  if (exists && at < kFakeHeapBytes && bytes <= kFakeHeapBytes - at) {
    return heaps_[static_cast<std::size_t>(what.pe)] + at;
  }
  complain("a place of no peer");
  return nullptr;
}

bool FakeProxy::is_known(const std::byte* here, std::uint64_t bytes) const {
  const auto lies_in = [&](const std::byte* memory, std::size_t size) {
    return here >= memory && here < memory + size &&
           bytes <= static_cast<std::uint64_t>(memory + size - here);
  };
  return lies_in(heaps_[0], kFakeHeapBytes) || lies_in(buffer_.data(), kBufferBytes) ||
         lies_in(staging_[0].bytes, std::size_t{plan_.staging_slots} * plan_.staging_slot_bytes);
}

void FakeProxy::complain(const std::string& what) {
  complaints_ += "the proxy was asked for " + what + "\n";
}

void FakeProxy::hold() {
  const std::scoped_lock lock(mutex_);
  held_ = true;
}
void FakeProxy::go_on() {
  const std::scoped_lock lock(mutex_);
  held_ = false;
}
void FakeProxy::watch(std::function<void()> look) {
  const std::scoped_lock lock(mutex_);
  look_ = std::move(look);
}
void FakeProxy::lose(int pe, chimex_status status) {
  const std::scoped_lock lock(mutex_);
  status_[static_cast<std::size_t>(pe)] = status;
}
void FakeProxy::silence(int pe) {
  const std::scoped_lock lock(mutex_);
  is_silent_[static_cast<std::size_t>(pe)] = true;
}
void FakeProxy::answer(int pe) {
  const std::scoped_lock lock(mutex_);
  is_silent_[static_cast<std::size_t>(pe)] = false;
}
std::size_t FakeProxy::on_their_way() {
  const std::scoped_lock lock(mutex_);
  return on_their_way_.size();
}
std::vector<abi::ProxyRequest> FakeProxy::taken() {
  const std::scoped_lock lock(mutex_);
  return taken_;
}
std::uint64_t FakeProxy::slots_taken(unsigned number) {
  const std::scoped_lock lock(mutex_);
  return consumers_[number].taken();
}
std::string FakeProxy::complaints() {
  const std::scoped_lock lock(mutex_);
  return complaints_;
}

}  // namespace chime::tests
