// The words by which device code asks this PE's host for paths to peers and gets answers
// (chime/abi/openings.h). The host's side.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "chime/abi/openings.h"
#include "chime/abi/words.h"

namespace chime::host {

class OpeningRequests {
 public:
  // The words of one asking side: kernels, or host operations. Zero at first, and never written
  // here.
  struct Asks {
    const std::uint64_t* count;
    std::span<const std::uint64_t> wanted;  // a bit for each PE
  };
  // Memory that device code sees, zero at first.
  OpeningRequests(const Asks& by_kernels, const Asks& by_host, std::span<std::uint32_t> answers,
                  std::span<abi::OpenedPeer> peers)
      : by_kernels_(by_kernels), by_host_(by_host), answers_(answers), peers_(peers) {}

  // The PEs that were asked for since the last call: once by kernels, once by host operations.
  std::vector<int> take_wanted() {
    std::vector<int> pes;
    by_kernels_.take(pes);
    by_host_.take(pes);
    return pes;
  }

  // Refused peers go by the channels at `place`, if these lead there. Before the first answer.
  void send_refused(Path path, unsigned place, std::function<bool(int pe)> leads_to) {
    refused_ = {abi::answer_word(path, place), std::move(leads_to)};
  }

  // A NIC's queue pairs at `place` lead there.
  void answer(unsigned place, const abi::OpenedPeer& peer) {
    peers_[place] = peer;
    tell(peer.pe, abi::answer_word(Path::kNic, place));
  }
  void refuse(int pe) {
    const bool has_other_path = refused_.leads_to && refused_.leads_to(pe);
    tell(pe, has_other_path ? refused_.answer : abi::kRefused);
  }

  // The PE with the answer at this address.
  std::optional<int> answered_at(std::uint64_t address) const {
    const std::uint64_t at = address - reinterpret_cast<std::uint64_t>(answers_.data());
    if (at >= answers_.size_bytes()) return std::nullopt;
    return static_cast<int>(at / sizeof(std::uint32_t));
  }

 private:
  class Taken {
   public:
    explicit Taken(const Asks& asks) : asks_(asks), taken_(asks.wanted.size()) {}

    void take(std::vector<int>& pes) {
      // Acquire: pairs with the release in ask_for() (device/channel/opening.cuh): the bit is
      // there.
      const std::uint64_t count = load(*asks_.count, std::memory_order_acquire);
      if (count == seen_) return;
      seen_ = count;
      for (std::size_t i = 0; i < taken_.size(); ++i) {
        std::uint64_t fresh = load(asks_.wanted[i], std::memory_order_relaxed) & ~taken_[i];
        taken_[i] |= fresh;
        for (; fresh != 0; fresh &= fresh - 1)
          pes.push_back(static_cast<int>(i * 64) + std::countr_zero(fresh));
      }
    }

   private:
    static std::uint64_t load(const std::uint64_t& word, std::memory_order order) {
      return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(order);
    }

    const Asks asks_;
    std::uint64_t seen_ = 0;
    std::vector<std::uint64_t> taken_;
  };

  // Release: pairs with the acquire in answer_about() (device/channel/opening.cuh).
  void tell(int pe, std::uint32_t answer) {
    std::atomic_ref(answers_[static_cast<std::size_t>(pe)])
        .store(answer, std::memory_order_release);
  }

  struct Refused {
    std::uint32_t answer;
    std::function<bool(int pe)> leads_to;
  };

  Taken by_kernels_, by_host_;
  Refused refused_{};
  const std::span<std::uint32_t> answers_;
  const std::span<abi::OpenedPeer> peers_;
};

}  // namespace chime::host
