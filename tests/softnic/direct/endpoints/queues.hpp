// The rings of a queue pair, for a program that owns their bytes: send queue, receive queue,
// completion queue. They are the same whether verbs or DevX made them.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "wqe.hpp"

namespace direct {

struct SendQueue {
  std::uint8_t* ring = nullptr;
  std::uint32_t blocks = 0;  // of 64 bytes; a power of two
  std::uint32_t* record = nullptr;
  std::uint64_t* doorbell = nullptr;
  std::uint32_t qpn = 0;
  std::uint32_t next = 0;  // block that the next WQE starts at; its low 16 bits are the WQE's index

  // Writes `wqe` at the next index and returns that index. The NIC does not see it yet.
  std::uint16_t post(const Wqe& wqe);
  // Makes all posted WQEs visible to the NIC: record, then doorbell.
  void ring_doorbell();
  std::uint16_t post_and_ring(const Wqe& wqe) {
    const std::uint16_t index = post(wqe);
    ring_doorbell();
    return index;
  }

  std::uint8_t* block(std::uint32_t index) const { return ring + (index & (blocks - 1)) * 64ull; }
  void write_record(std::uint16_t value) const;
  void write_doorbell(std::uint32_t index, std::uint32_t qp) const;
};

struct Cqe {
  std::uint8_t bytes[64];

  std::uint8_t opcode() const { return bytes[63] >> 4; }
  bool is_solicited() const { return bytes[63] & 2; }
  bool failed() const { return opcode() == 0xd || opcode() == 0xe; }
  std::uint8_t syndrome() const { return failed() ? bytes[55] : 0; }
  std::uint16_t counter() const { return static_cast<std::uint16_t>(word(60) >> 16); }
  std::uint32_t qpn() const { return word(56) & 0xffffff; }
  std::uint8_t wqe_opcode() const { return bytes[56]; }
  std::uint32_t byte_count() const { return word(44); }
  std::uint32_t immediate() const { return word(36); }
  std::uint32_t user_index() const { return word(32) & 0xffffff; }
  std::uint32_t remote_qpn() const { return word(24) & 0xffffff; }
  std::uint32_t word(unsigned at) const {
    std::uint32_t value;
    std::memcpy(&value, bytes + at, 4);
    return be32toh(value);
  }
};

struct CompletionRing {
  std::uint8_t* ring = nullptr;
  std::uint32_t entries = 0;
  std::uint32_t entry_bytes = 64;
  bool collapsed = false;
  std::uint32_t* record = nullptr;  // [0] consumer index, [1] arm
  std::uint32_t consumed = 0;
  std::uint32_t last_word = ~0u;  // of a collapsed queue's entry, when last polled: counter, opcode
  bool updates_record = true;

  std::optional<Cqe> poll();
  Cqe next();
  // Waits until the WQE `index` has completed. A collapsed queue may show only a later completion.
  Cqe retired(std::uint16_t index);
  // Frees all polled entries for the NIC.
  void write_record() const;

 private:
  const std::uint8_t* entry(std::uint32_t index) const;
  std::optional<Cqe> poll_collapsed();
};

struct ReceiveQueue {
  std::uint8_t* ring = nullptr;
  std::uint32_t entries = 0;
  std::uint32_t stride = 16;
  std::uint32_t* record = nullptr;
  std::uint32_t next = 0;

  struct Piece {
    void* address;
    std::uint32_t bytes;
    std::uint32_t lkey;
  };
  // Posts one receive WQE. An end-of-list entry closes it if it is shorter than the stride.
  std::uint16_t post(const std::vector<Piece>& pieces);
};

}  // namespace direct
