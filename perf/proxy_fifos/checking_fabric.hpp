// A fabric whose peers check what arrives, and which can be made to misbehave: a message is lost,
// doubled or overtaken, its data differs from what was sent, or the proxy's thread is kept from its
// work.
//
// Each source numbers its messages: data of one word, and after it a signal with the number. The
// proxy's thread carries out everything when it is posted, which takes a microsecond.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "stand_in_fabric.hpp"

namespace chime::perf {

enum class Planted { kNone, kHostFirst, kSleep, kPinned, kLose, kDouble, kSwap, kTear };

// The positions of data in each heap, in words.
struct Places {
  static constexpr std::size_t kSources = 8, kRing = 16384;
  static constexpr std::size_t signal(std::size_t source) { return source; }
  static constexpr std::size_t sum(std::size_t source) { return kSources + source; }
  static constexpr std::size_t data(std::size_t source, std::uint64_t number) {
    return 2 * kSources + source * kRing + number % kRing;
  }
  static constexpr std::size_t kWords = 2 * kSources + kSources * kRing;
};

// Stands in for a payload and its checksum.
inline std::uint64_t payload(std::size_t source, std::uint64_t number) {
  std::uint64_t x = (number << 8 | source) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// The messages that arrived, and the first error in them. Read when nothing is in flight.
struct Arrivals {
  std::array<std::uint64_t, Places::kSources> numbers{}, sums{};
  std::string complaint;  // the first
  std::atomic<std::uint64_t> from_host = 0, host_wants = 0;
};

class CheckingFabric final : public StandInFabric {
 public:
  static constexpr std::size_t kRoom = 512;                    // as in libfabric's carrier
  static constexpr int kOfKernels = 1, kOfHost = 2, kPes = 3;  // the PEs that they send to

  CheckingFabric(Arrivals& arrivals, Planted fault)
      : arrivals_(arrivals), fault_(fault), memory_(Places::kWords) {}

 private:
  bool post(const host::HostRequest& request, std::uint64_t completion) override {
    const bool is_of_host = request.pe == kOfHost;
    if (fault_ == Planted::kHostFirst && !is_of_host && arrivals_.host_wants > arrivals_.from_host)
      return false;
    if (ended_.size() - told_ >= kRoom) return false;
    spend_a_microsecond();
    request.kind == host::HostRequest::Kind::kAtomic ? update(request) : put(request);
    if (is_of_host) ++arrivals_.from_host;
    ended_.push_back(completion);
    return true;
  }
  std::size_t poll(std::span<Ended> ended) override {
    if (fault_ == Planted::kSleep) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::size_t count = 0;
    for (; count < ended.size() && told_ < ended_.size(); ++told_)
      ended[count++] = {ended_[told_], CHIMEX_OK};
    if (told_ == ended_.size()) told_ = 0, ended_.clear();
    return count;
  }
  bool has_moved() const override { return !ended_.empty(); }

  static void spend_a_microsecond() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
    while (std::chrono::steady_clock::now() < until) {
    }
  }

  void put(const host::HostRequest& request) {
    std::memcpy(&memory_[request.at / sizeof(std::uint64_t)], request.here, request.bytes);
    if (fault_ == Planted::kTear && ++puts_ % 1000 == 0)
      memory_[request.at / sizeof(std::uint64_t)] ^= 1;
  }
  void update(const host::HostRequest& request) {
    const std::size_t word = request.at / sizeof(std::uint64_t);
    const std::uint64_t before = memory_[word], operand = request.update.operand;
    if (request.here) std::memcpy(request.here, &before, sizeof before);
    if (request.update.op == AmoOp::kAdd) {
      const bool is_lost = fault_ == Planted::kLose && ++adds_ % 1000 == 0;
      memory_[word] += is_lost ? 0 : operand;
      arrivals_.sums[word - Places::kSources] = memory_[word];
      return;
    }
    memory_[word] = operand;
    // Swapped: 1 000 arrives before 999.
    if (fault_ == Planted::kSwap && operand % 1000 == 999) return;
    hear(word, operand);
    if (fault_ == Planted::kSwap && operand % 1000 == 0) hear(word, operand - 1);
    if (fault_ == Planted::kDouble && operand % 1000 == 0) hear(word, operand);
  }

  // Message `number` of a source has come.
  void hear(std::size_t source, std::uint64_t number) {
    std::uint64_t& last = arrivals_.numbers[source];
    const std::string which =
        "message " + std::to_string(number) + " of source " + std::to_string(source);
    if (number != last + 1)
      complain(which + " came behind message " + std::to_string(last));
    else if (memory_[Places::data(source, number)] != payload(source, number))
      complain(which + " came with data that was not sent");
    last = number;
  }
  void complain(std::string what) {
    if (arrivals_.complaint.empty()) arrivals_.complaint = std::move(what);
  }

  Arrivals& arrivals_;
  const Planted fault_;
  std::vector<std::uint64_t> memory_;  // of all peers: their sources differ
  std::vector<std::uint64_t> ended_;
  std::size_t told_ = 0;
  std::uint64_t puts_ = 0, adds_ = 0;
};

}  // namespace chime::perf
