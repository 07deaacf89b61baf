// The sending half of a queue pair: fetches WQEs up to the doorbell record, checks them, turns them
// into packets, and handles the answers.
#pragma once

#include "completer.hpp"
#include "softnic/observe/faults.hpp"
#include "softnic/wire/link.hpp"

namespace softnic {

class Requester {
 public:
  Requester(Device& device, Link& link, Completer& completer, Faults& faults)
      : device_(device), link_(link), completer_(completer), faults_(faults) {}

  // The queue pair that a doorbell names.
  static std::uint32_t qpn_of(std::uint64_t doorbell);

  // A doorbell came for `page` and carried `value` (the first 8 bytes of a control segment).
  void ring(std::uint32_t page, std::uint64_t value);

  // Does what can be done now. Returns whether it did work.
  bool run(QueuePair& qp);

  // An answer arrived for `qp`.
  void on_ack(QueuePair& qp, const PacketHeader& header);
  void on_nak(QueuePair& qp, const PacketHeader& header);
  void on_read_data(QueuePair& qp, const PacketHeader& header, const std::byte* payload);

  // Fails the oldest request if its answer is overdue.
  void check_timeout(QueuePair& qp, Clock::time_point now);

 private:
  bool may_fetch(const QueuePair& qp) const;
  void fetch(QueuePair& qp);
  Syndrome check(const QueuePair& qp, const Request& request);
  bool send(QueuePair& qp, Outstanding& o);
  bool send_query(QueuePair& qp, Outstanding& o);
  bool send_payload(QueuePair& qp, Outstanding& o);
  void mark_sent(QueuePair& qp, Outstanding& o);
  void gather(const QueuePair& qp, const Request& request, std::uint64_t offset,
              std::uint32_t bytes, std::byte* to);
  PacketHeader header_for(const QueuePair& qp, const Outstanding& o) const;

  Device& device_;
  Link& link_;
  Completer& completer_;
  Faults& faults_;
};

}  // namespace softnic
