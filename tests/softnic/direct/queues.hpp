// The rings of a queue pair as a program that owns their bytes sees them: send queue, receive
// queue, completion queue. Who made them (verbs or DevX) is not known here.
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

  // Writes `wqe` at the next index and returns that index. The NIC does not know of it yet.
  std::uint16_t post(const Wqe& wqe);
  // Tells the NIC of everything posted: record, then doorbell.
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
  std::uint32_t last_word =
      ~0u;  // of a collapsed queue's entry: counter and opcode, when it was seen last
  bool updates_record = true;

  std::optional<Cqe> poll();
  Cqe next();
  // Waits until the WQE `index` is retired: in a collapsed queue later ones may hide it.
  Cqe retired(std::uint16_t index);
  // Tells the NIC that all that was polled is free again.
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
  // Posts one receive WQE, closed by an end-of-list entry where it is shorter than the stride.
  std::uint16_t post(const std::vector<Piece>& pieces);
};

}  // namespace direct
