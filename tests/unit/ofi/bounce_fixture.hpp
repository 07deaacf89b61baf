// A driver whose heap is a GPU's, over a wire and a device that a test controls call by call. The
// device's work happens when the test says so.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "driver_fixture.hpp"
#include "host/memory/word_updates.cuh"

namespace chime::host::ofi::test {

class HeldQueue final : public DeviceQueue {
 public:
  bool has_failed = false;

  void copy(void* dst, const void* src, std::size_t bytes) override {
    work_.push_back([=] { std::memcpy(dst, src, bytes); });
  }
  void set(void* word, std::uint64_t value, unsigned bytes) override {
    work_.push_back([=] { std::memcpy(word, &value, bytes); });
    ++sets;
  }
  // With a NIC it does nothing.
  void launch(LibraryKernel kernel, void** arguments) override {
    if (kernel == LibraryKernel::kUpdateByNic) return work_.push_back([] {});
    ASSERT_EQ(kernel, LibraryKernel::kUpdate);
    work_.push_back(
        [call = *static_cast<UpdateCall*>(arguments[0])] { update_words(nullptr, call); });
  }
  void follow(DeviceQueue& other) override { gates_.push_back({begun(), &other, other.begun()}); }
  std::uint64_t begun() const override { return work_.size(); }
  std::uint64_t ended() override {
    if (has_failed) throw std::runtime_error("the device has failed");
    return ended_;
  }

  // Does the next pieces of work, but none before the work that it follows. Returns their number.
  std::size_t finish(std::size_t most = SIZE_MAX) {
    std::size_t count = 0;
    for (; count < most && ended_ < work_.size() && !is_held_up(); ++count) work_[ended_++]();
    return count;
  }
  std::size_t left() const { return work_.size() - ended_; }
  int sets = 0;

 private:
  struct Gate {
    std::uint64_t from;
    DeviceQueue* other;
    std::uint64_t number;
  };
  bool is_held_up() const {
    for (const Gate& gate : gates_)
      if (ended_ >= gate.from && gate.other->ended() < gate.number) return true;
    return false;
  }

  std::vector<std::function<void()>> work_;
  std::vector<Gate> gates_;
  std::uint64_t ended_ = 0;
};

// PE 0 of three, or more; the test plays the others.
struct BounceTest : testing::Test {
  static constexpr std::size_t kHeapBytes = std::size_t{1} << 20;
  static constexpr std::size_t kLarge = SlotPool::kLargeBytes;

  const std::unique_ptr<Gpu> gpu = open_simt_gpu();
  std::vector<std::byte> heap = std::vector<std::byte>(kHeapBytes);
  const std::unique_ptr<DeviceMemory> pool_memory = gpu->allocate_host_visible(SlotPool::bytes());
  const std::span<std::byte> pool{pool_memory->address(), SlotPool::bytes()};
  std::array<std::byte, 4096> host{};  // memory outside the device's
  FakeWire wire;
  Requests requests;
  BatchPool mail;
  std::vector<HeldQueue*> queues;
  std::optional<Driver::Device> device;
  std::optional<Driver> driver;
  std::vector<HostDriven::Ended> ended;
  std::chrono::nanoseconds timeout{};  // of a silent peer; 0: none

  HeldQueue& out() { return *queues.at(0); }
  HeldQueue& in() { return *queues.at(1); }
  HeldQueue& words() { return *queues.at(2); }

  void open(bool keeps_order = true, bool bounces = true, int n_pes = 3) {
    wire.the_facts.keeps_order = keeps_order;
    device.emplace(
        [&] {
          auto queue = std::make_unique<HeldQueue>();
          queues.push_back(queue.get());
          return queue;
        },
        pool, std::span<const std::byte>(heap), n_pes);
    driver.emplace(Driver::Place{0, n_pes, heap, kPass, timeout, false}, *gpu, wire, requests, mail,
                   nullptr, &*device);
    for (int pe = 1; pe < n_pes; ++pe)
      driver->add_peer(pe, {.pass = kPeersPass, .bounces = bounces});
  }
  void poll() {
    std::array<HostDriven::Ended, 16> some;
    const std::size_t count = driver->poll(some);
    ended.insert(ended.end(), some.begin(), some.begin() + static_cast<long>(count));
  }
  // The device does its work, until no more follows from it.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      poll();
      for (HeldQueue* const queue : queues) queue->finish();
    }
    poll();
  }

  void post(HostRequest::Kind kind, std::byte* here, std::uint64_t at, std::size_t bytes,
            std::uint64_t completion, int pe = 1) {
    ASSERT_TRUE(driver->post({kind, pe, at, here, bytes}, completion));
  }
  void put(std::byte* from, std::size_t bytes, std::uint64_t completion, int pe = 1) {
    post(HostRequest::Kind::kPut, from, 64, bytes, completion, pe);
  }
  void get(std::byte* to, std::size_t bytes, std::uint64_t completion, int pe = 1) {
    post(HostRequest::Kind::kGet, to, 64, bytes, completion, pe);
  }
  void add(std::uint64_t completion, int pe = 1) {
    ASSERT_TRUE(driver->post(
        {HostRequest::Kind::kAtomic, pe, 0, nullptr, 0, {AmoOp::kAdd, 8, 1, 0}}, completion));
  }

  // A message and its body.
  struct Said {
    Message message;
    std::vector<std::byte> body = {};

    std::uint64_t slot() const {  // the slot in the body
      std::uint64_t at;
      std::memcpy(&at, body.data(), sizeof at);
      return at;
    }
  };
  // The messages sent since the last call, of all batches.
  std::vector<Said> sent() {
    std::vector<Said> all;
    for (const auto& batch : std::exchange(wire.batches, {})) {
      auto reader = BatchReader::open(batch.bytes, kPeersPass);
      std::span<const std::byte> body;
      while (!reader->is_over()) {
        const Message message = reader->next(body);
        all.push_back({message, {body.begin(), body.end()}});
      }
    }
    return all;
  }

  // ---- The peer's messages

  void hear(const std::vector<Said>& all, int from = 1) {
    BatchText text;
    text.begin(from);
    for (const Said& one : all) text.add(one.message, one.body);
    ASSERT_TRUE(wire.arrive(text.finish(kPass)));
    poll();
  }
  static std::vector<std::byte> word(std::uint64_t value, std::uint64_t second = 0) {
    std::vector<std::byte> bytes(16);
    std::memcpy(bytes.data(), &value, 8);
    std::memcpy(bytes.data() + 8, &second, 8);
    return bytes;
  }
  static Said slot_ask(Message::Kind kind, std::uint64_t id, std::uint64_t at, std::size_t bytes,
                       std::uint64_t slot) {
    auto body = word(slot);
    body.resize(8);
    return {ask_for_piece(kind, id, at, bytes), body};
  }
  static Said put_of(std::uint64_t id, std::uint64_t at, std::size_t bytes, std::byte with) {
    return {ask_for_piece(Message::Kind::kPut, id, at, bytes), std::vector(bytes, with)};
  }
  static Said update_of(std::uint64_t id, std::uint64_t at, AmoOp op, std::uint64_t operand,
                        bool wants_before = false) {
    Message message = ask_for_piece(Message::Kind::kAsk, id, at, 8);
    message.op = static_cast<std::uint8_t>(op);
    message.wants_before = wants_before;
    return {message, word(operand)};
  }
  void answer(const Message& ask, chimex_status status = CHIMEX_OK, int from = 1) {
    hear({{answer_to(ask.id, 0, status)}}, from);
  }

  // A posted transfer ends.
  void end_transfer(std::size_t number = 0) {
    Request* const transfer = wire.transfers.at(number);
    wire.transfers.erase(wire.transfers.begin() + static_cast<long>(number));
    wire.tells.push_back({transfer, 0});
    poll();
  }
  std::uint64_t word_in_heap(std::uint64_t at) const {
    std::uint64_t value;
    std::memcpy(&value, &heap[at], sizeof value);
    return value;
  }
};

}  // namespace chime::host::ofi::test
