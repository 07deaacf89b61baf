// The receiving half of a queue pair: checks a packet's rights, places its payload, does atomics,
// answers.
#pragma once

#include <optional>

#include "completer.hpp"
#include "softnic/observe/faults.hpp"
#include "softnic/observe/strict.hpp"
#include "softnic/wire/link.hpp"

namespace softnic {

class Responder {
 public:
  Responder(Device& device, Link& link, Completer& completer, Faults& faults)
      : device_(device), link_(link), completer_(completer), faults_(faults) {}

  // A request packet arrived for one of this NIC's queue pairs.
  void receive(const PacketHeader& header, const std::byte* payload);

  // Does the waiting work: stashed packets, answers. Returns whether it did work.
  bool run(QueuePair& qp);

  // Gives up on a message that found no receive WQE for too long.
  void check_not_ready(QueuePair& qp, Clock::time_point now);

 private:
  // Each returns false if the packet must wait.
  bool is_connection_of(QueuePair& qp, const PacketHeader& header);
  bool process(QueuePair& qp, const PacketHeader& header, const std::byte* payload);
  std::byte* reach(const QueuePair& qp, const strict::Attempt& attempt, std::uint32_t access);
  void report_refused(const QueuePair& qp, const strict::Attempt& attempt);
  bool on_write(QueuePair& qp, const PacketHeader& header, const std::byte* payload);
  void place(QueuePair& qp, const PacketHeader& header, const std::byte* payload, std::byte* to);
  void place_overtaken(QueuePair& qp);
  bool on_send(QueuePair& qp, const PacketHeader& header, const std::byte* payload);
  void on_read(QueuePair& qp, const PacketHeader& header);
  void on_atomic(QueuePair& qp, const PacketHeader& header);

  bool take_receive_wqe(QueuePair& qp);
  bool take_shared_wqe(QueuePair& qp, SharedReceiveQueue& srq);
  Syndrome scatter(QueuePair& qp, std::uint64_t offset, const std::byte* payload,
                   std::uint32_t bytes);
  void finish_receive(QueuePair& qp, const PacketHeader& header, CqeOpcode opcode);
  void acknowledge(QueuePair& qp, const PacketHeader& header);
  void acknowledge(QueuePair& qp, std::uint32_t sequence);
  void refuse(QueuePair& qp, const PacketHeader& header, Syndrome syndrome,
              std::optional<AsyncEvent> event);
  void fail(QueuePair& qp, std::uint32_t sequence, Syndrome syndrome,
            std::optional<AsyncEvent> event);
  void nobody_there(const PacketHeader& header);
  bool send_answers(QueuePair& qp);
  enum class Sent { kAll, kNotYet, kRefused };
  Sent send_read_data(QueuePair& qp, Answer& answer);

  Device& device_;
  Link& link_;
  Completer& completer_;
  Faults& faults_;
};

}  // namespace softnic
