// An attacker between two ends that have met: it takes honest frames and carries, drops, repeats,
// cuts and changes them, and adds its own bytes, by the input. The receiver's output must be the
// sender's frames, from the first on, as far as they got.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "ends.hpp"
#include "net/socket/error.hpp"

namespace {

using namespace chime::net;

class Between {
 public:
  Between() : sender_(fuzz::client()), receiver_(fuzz::server()) {
    sender_.receive(receiver_.take_output());
    receiver_.receive(sender_.take_output());
    receiver_.accept();
    sender_.receive(receiver_.take_output());
  }

  void play(std::span<const std::uint8_t> script) {
    for (rest_ = script; !rest_.empty();) step(next());
  }

 private:
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const auto value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }

  void step(std::uint8_t what) {
    switch (what % 7) {
      case 0:
        return send(next());
      case 1:
        return carry(true);
      case 2:
        return carry(false);  // so that it comes again
      case 3:
        if (!frames_.empty()) frames_.pop_front();
        return;
      case 4:
        if (frames_.size() > 1) std::swap(frames_[0], frames_[1]);
        return;
      case 5:
        return change(next(), next());
      default:
        return add(next());
    }
  }

  void send(std::size_t length) {
    sent_.emplace_back(length * 15, std::byte(sent_.size()));  // at most what is allowed
    sender_.send(sent_.back());
    frames_.push_back(sender_.take_output());
  }

  void carry(bool takes_it_away) {
    if (frames_.empty()) return;
    const Bytes frame = frames_.front();
    if (takes_it_away) frames_.pop_front();
    deliver(frame);
  }

  void change(std::size_t at, std::uint8_t how) {
    if (frames_.empty()) return;
    Bytes& frame = frames_.front();
    frame[at % frame.size()] ^= std::byte(how);
    if (how % 8 == 7) frame.resize(1 + at % frame.size());
  }

  void add(std::size_t n) {
    Bytes own;
    for (; n > 0 && !rest_.empty(); --n) own.push_back(std::byte(next()));
    deliver(own);
  }

  void deliver(const Bytes& bytes) {
    try {
      receiver_.receive(bytes);
      while (auto frame = receiver_.next_frame()) {
        fuzz::require(given_ < sent_.size() && *frame == sent_[given_],
                      "the receiver gives out what was not sent next");
        ++given_;
      }
    } catch (const Error&) {
      fuzz::require(receiver_.state() == SecureChannel::State::kFailed,
                    "a channel that threw goes on");
    }
  }

  SecureChannel sender_, receiver_;
  std::span<const std::uint8_t> rest_;
  std::deque<Bytes> frames_;  // sent, and not carried yet
  std::vector<Bytes> sent_;
  std::size_t given_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Between().play({data, size});
  return 0;
}
