// The rows of the strict matrix: each mistake, its requests, how it is made and how it ends.
#pragma once

#include <string>

#include "matrix_scene.hpp"

namespace direct::matrix {

inline constexpr std::uint8_t kLocalLength = 0x01, kLocalOperation = 0x02, kLocalProtection = 0x04,
                              kFlushed = 0x05, kRemoteInvalid = 0x12, kRemoteAccess = 0x13,
                              kRemoteOperation = 0x14, kRnrRetry = 0x16;
inline constexpr int kNoEvent = -1;

struct Ending {
  std::uint8_t syndrome = 0;  // of the request; 0: it succeeds
  std::vector<std::string> reports = {};
  int event = kNoEvent;         // an ibv_event_type: of a verbs program alone
  unsigned peer = IBV_QPS_RTS;  // the other queue pair's state
  std::uint8_t of_receive = 0;  // the syndrome of the receive that the message used
  bool arrives = true;          // a request that succeeds without a report
};

struct Row {
  const char* name;
  bool (*fits)(const Kind&, Service);
  Ending ending;
  // The mistake: in the request, in its bytes after the post, or in an action of its own.
  std::function<void(Scene&)> draft = nullptr;
  void (*posted)(Scene&, std::uint8_t* control) = nullptr;
  void (*act)(Scene&) = nullptr;
  Options left = {}, right = {};
  std::vector<ReceiveQueue::Piece> (*receive)(Places&) = nullptr;
  bool has_receive = true;
};

inline Options with(void (*change)(Options&)) {
  Options options;
  change(options);
  return options;
}

// ---- the requests that can have a mistake

inline bool all(const Kind&, Service) { return true; }
inline bool with_data(const Kind& k, Service) { return !k.is_nop(); }
inline bool with_reads(const Kind& k, Service) { return k.is_read(); }
inline bool with_atomics(const Kind& k, Service) { return k.is_atomic(); }
inline bool with_inline(const Kind& k, Service) { return !k.is_nop() && !k.is_read(); }
inline bool with_two_operands(const Kind& k, Service) { return k.operands == 2; }
inline bool with_remote(const Kind& k, Service) { return k.is_remote(); }
inline bool with_sends(const Kind& k, Service service) {
  return k.is_send() && service == Service::kRc;
}
inline bool with_receive(const Kind& k, Service service) {
  return k.takes_a_receive() && service == Service::kRc;
}
inline bool with_unreliable_sends(const Kind& k, Service service) {
  return k.is_send() && service != Service::kRc;
}
inline bool with_unreliable_receive(const Kind& k, Service service) {
  return k.takes_a_receive() && service != Service::kRc;
}
inline bool with_vector(const Kind& k, Service service) {
  return service == Service::kUd && !k.is_nop();
}
inline bool with_remote_or_vector(const Kind& k, Service service) {
  return with_remote(k, service) || with_vector(k, service);
}
inline bool with_padding(const Kind& k, Service) {
  return k.opcode == kMaskedFetchAdd && k.atomic_bytes == 4;
}
inline bool on_rc(const Kind&, Service service) { return service == Service::kRc; }

// ---- the rows

inline std::uint8_t segments_before_operands(const Scene& s) {
  return s.service == Service::kUd ? 5 : 2;
}

using Pieces = std::vector<ReceiveQueue::Piece>;

inline Ending local(std::uint8_t syndrome, const char* report) { return {syndrome, {report}}; }
inline Ending remote_access(const char* report) {
  return {kRemoteAccess, {report}, IBV_EVENT_QP_ACCESS_ERR, IBV_QPS_ERR, kFlushed};
}
inline Ending bad_receive(const char* report) {
  return {kRemoteOperation, {report}, kNoEvent, IBV_QPS_ERR, kLocalProtection};
}
// In the control segment, byte `at`.
template <unsigned kAt, unsigned kBits>
inline void flip(Scene&, std::uint8_t* control) {
  control[kAt] ^= kBits;
}

inline const std::vector<Row>& rows() {
  static const std::vector<Row> all_rows = {
      {"Nothing", all, {}},

      // the control segment
      {"QpNumber", all, local(kLocalOperation, "wqe-qpn"), {}, flip<6, 1>},
      {"Index", all, local(kLocalOperation, "wqe-index"), {}, flip<2, 1>},
      {"Opcode", all, local(kLocalOperation, "opcode"), {}, [](Scene&, auto* w) { w[3] = 0x3f; }},
      {"OpcodeMode", all, local(kLocalOperation, "opcode-mode"), {}, flip<0, 0x0c>},
      {"BesideSegments", all, local(kLocalOperation, "reserved-bits"), {}, flip<7, 0x80>},
      {"SignatureAndStream", all, {}, {}, [](Scene&, auto* w) { w[8] = w[9] = w[10] = 0xff; }},
      {"BesideSolicited", all, local(kLocalOperation, "reserved-bits"), {}, flip<11, 0x01>},
      {"BesideFence", all, local(kLocalOperation, "reserved-bits"), {}, flip<11, 0x10>},
      {"FenceMode", all, local(kLocalOperation, "reserved-bits"), {}, flip<11, 0xa0>},

      // ds
      {"NoSegments", all, local(kLocalOperation, "ds-zero"), {}, [](Scene&, auto* w) { w[7] = 0; }},
      {"ControlAlone",
       with_remote_or_vector,
       local(kLocalOperation, "ds-too-small"),
       {},
       [](Scene&, auto* w) { w[7] = 1; }},
      {"NoOperands",
       with_atomics,
       local(kLocalOperation, "ds-too-small"),
       {},
       [](Scene& s, auto* w) { w[7] = segments_before_operands(s); }},
      {"HalfTheOperands",
       with_two_operands,
       local(kLocalOperation, "ds-too-small"),
       {},
       [](Scene& s, auto* w) { w[7] = segments_before_operands(s) + 1; }},
      {"PastRecord", with_data, local(kLocalOperation, "wqe-past-record"),
       [](Scene& s) {
         s.draft.data = [&s](Wqe& wqe) {
           while (wqe.segments() < 5)
             wqe.data(s.draft.local.address, s.kind.bytes(), s.draft.local.key);
         };
       },
       [](Scene& s, auto*) { s.left.sends.next = 1; }},
      {"InlinePastSegments", with_data, local(kLocalOperation, "inline-past-ds"),
       [](Scene& s) { s.draft.data = [](Wqe& wqe) { wqe.u32(0x80000000u | 100).u32(0).u64(0); }; }},

      {"BesideInlineLength", with_inline, local(kLocalOperation, "reserved-bits"),
       [](Scene& s) {
         s.draft.data = [](Wqe& wqe) { wqe.u32(0x80000000u | 1 << 10 | 8).u32(0).u64(0); };
       }},

      // the other segments
      {"ReadIntoItself", with_reads, local(kLocalOperation, "inline-read"),
       [](Scene& s) { s.draft.data = [](Wqe& wqe) { wqe.inlined("12345678", 8); }; }},
      {"DataOfNoBytes", with_data, local(kLocalOperation, "data-of-no-bytes"),
       [](Scene& s) {
         s.draft.data = [&s](Wqe& wqe) { wqe.data(s.draft.local.address, 0, s.draft.local.key); };
       }},
      {"NoRoomForTheResult",
       with_atomics,
       {kLocalLength},
       [](Scene& s) { s.draft.data = [](Wqe&) {}; }},
      {"BehindRemoteKey", with_remote, local(kLocalOperation, "reserved-bits"),
       [](Scene& s) { s.draft.remote_reserved = 1; }},
      {"BehindOperands", with_padding, local(kLocalOperation, "reserved-bits"),
       [](Scene& s) { s.draft.operand_tail = 1; }},
      {"BehindQueueKey", with_vector, local(kLocalOperation, "reserved-bits"),
       [](Scene& s) { s.draft.vector_reserved = 1; }},
      {"VectorNotExtended", with_vector, local(kLocalOperation, "reserved-bits"),
       [](Scene& s) { s.draft.vector_extended = 0; }},

      // local memory
      {"LocalKey", with_data, local(kLocalProtection, "key-unknown"),
       [](Scene& s) { s.draft.local.key = 0x7700; }},
      {"LocalBounds", with_data, local(kLocalProtection, "key-bounds"),
       [](Scene& s) {
         s.draft.local.address = s.places.local.at(s.places.local.bytes() - s.kind.bytes() + 1);
       }},
      {"LocalDomain", with_data, local(kLocalProtection, "key-domain"),
       [](Scene& s) {
         s.draft.local = {s.places.stranger->at(0), s.places.stranger->lkey()};
       }},
      {"LocalRights", with_reads, local(kLocalProtection, "key-access"),
       [](Scene& s) {
         s.draft.local = {s.places.unwritable.at(0), s.places.unwritable.lkey()};
       }},
      {"LocalMapping", with_data, local(kLocalProtection, "key-unmapped"),
       [](Scene& s) { s.draft.local = s.places.lose_a_page(); }},

      // remote memory
      {"RemoteKey", with_remote, remote_access("key-unknown"),
       [](Scene& s) { s.draft.remote.key = 0x7700; }},
      {"RemoteBounds", with_remote, remote_access("key-bounds"),
       [](Scene& s) { s.draft.remote.address = s.places.remote.at(s.places.remote.bytes()); }},
      {"RemoteDomain", with_remote, remote_access("key-domain"),
       [](Scene& s) {
         s.draft.remote = {s.places.stranger->at(0), s.places.stranger->rkey()};
       }},
      {"RemoteRights", with_remote, remote_access("key-access"),
       [](Scene& s) {
         s.draft.remote = {s.places.ungranted.at(0), s.places.ungranted.rkey()};
       }},
      {"RemoteMapping", with_remote, remote_access("key-unmapped"),
       [](Scene& s) { s.draft.remote = s.places.lose_a_page(); }},
      {.name = "QueuePairsRights",
       .fits = with_remote,
       .ending = remote_access("qp-access"),
       .right = with([](Options& o) { o.access = IBV_ACCESS_LOCAL_WRITE; })},
      {"Alignment",
       with_atomics,
       {kRemoteInvalid, {"alignment"}, IBV_EVENT_QP_REQ_ERR, IBV_QPS_ERR},
       [](Scene& s) { s.draft.remote.address = s.places.remote.at(s.kind.bytes() / 2); }},

      // the receive
      {.name = "NoReceive",
       .fits = with_receive,
       .ending = {kRnrRetry},
       .left = with([](Options& o) { o.rnr_retry = 1; }),
       .has_receive = false},
      {.name = "ReceiveTooShort",
       .fits = with_sends,
       .ending = {kRemoteInvalid, {}, kNoEvent, IBV_QPS_ERR, kLocalLength},
       .receive = [](Places& p) -> Pieces {
         return {{p.remote.at(Places::kReceives), 7, p.remote.lkey()}};
       }},
      // Hardware's behaviour is unknown.
      {.name = "UnreliableReceiveTooShort",
       .fits = with_unreliable_sends,
       .ending = {0, {}, kNoEvent, IBV_QPS_RTS, kLocalLength, false},
       .receive = [](Places& p) -> Pieces {
         return {{p.remote.at(Places::kReceives), 7, p.remote.lkey()}};
       }},
      {.name = "NoUnreliableReceive",
       .fits = with_unreliable_receive,
       .ending = {.arrives = false},
       .has_receive = false},
      {"QueueKey", with_vector, {.arrives = false}, [](Scene& s) { s.draft.qkey ^= 1; }},
      {"ControlledQueueKey", with_vector, {}, [](Scene& s) { s.draft.qkey = 0x80000000u; }},
      {"PathToNowhere",
       with_vector,
       {.arrives = false},
       [](Scene& s) {
         for (const std::size_t at : {3, 8, 35}) s.draft.path[at] ^= 7;  // LID, MAC, GID
       }},
      {.name = "ReceiveKey",
       .fits = with_sends,
       .ending = bad_receive("key-unknown"),
       .receive = [](Places& p) -> Pieces {
         return {{p.remote.at(Places::kReceives), 8, 0x7700}};
       }},
      {.name = "ReceiveBounds",
       .fits = with_sends,
       .ending = bad_receive("key-bounds"),
       .receive = [](Places& p) -> Pieces {
         return {{p.remote.at(p.remote.bytes()), 8, p.remote.lkey()}};
       }},
      {.name = "ReceiveDomain",
       .fits = with_sends,
       .ending = bad_receive("key-domain"),
       .receive = [](Places& p) -> Pieces {
         return {{p.stranger->at(0), 8, p.stranger->lkey()}};
       }},
      {.name = "ReceiveRights",
       .fits = with_sends,
       .ending = bad_receive("key-access"),
       .receive = [](Places& p) -> Pieces {
         return {{p.unwritable.at(0), 8, p.unwritable.lkey()}};
       }},
      {.name = "ReceiveMapping",
       .fits = with_sends,
       .ending = bad_receive("key-unmapped"),
       .receive = [](Places& p) -> Pieces {
         const Place lost = p.lose_a_page();
         return {{lost.address, 8, lost.key}};
       }},

      // the queues
      {.name = "DoorbellBeforeRecord",
       .fits = all,
       .ending = {0, {"doorbell-before-record"}},
       .act = ring_before_record},
      {.name = "DoorbellWithoutRecord",
       .fits = all,
       .ending = {0, {"doorbell-before-record"}},
       .act = ring_without_record},
      {.name = "DoorbellInReset",
       .fits = all,
       .ending = {0, {"doorbell-qp-state"}},
       .act = ring_too_early<IBV_QPS_RESET>},
      {.name = "DoorbellInInit",
       .fits = all,
       .ending = {0, {"doorbell-qp-state"}},
       .act = ring_too_early<IBV_QPS_INIT>},
      {.name = "DoorbellInRtr",
       .fits = all,
       .ending = {0, {"doorbell-qp-state"}},
       .act = ring_too_early<IBV_QPS_RTR>},
      {.name = "ChangedInFlight",
       .fits = on_rc,
       .ending = {0, {"wqe-changed"}},
       .act = change_in_flight},
      {.name = "OverwrittenInFlight",
       .fits = on_rc,
       .ending = {0, {"send-queue-overrun", "wqe-changed"}},
       .act = overwrite_in_flight,
       .left = with([](Options& o) { o.send_blocks = 16; }),
       .right = with([](Options& o) { o.receives = 128; })},
      {.name = "CompletionsOverrun",
       .fits = all,
       .ending = {0, {"cq-overrun"}, IBV_EVENT_CQ_ERR},
       .act = overrun_completions,
       .left = with([](Options& o) { o.completions = 4; })},
  };
  return all_rows;
}

// A service lacks an operation whatever else is right or wrong.
inline const Row kOfAnotherService{"OfAnotherService", all,
                                   local(kLocalOperation, "opcode-service")};

}  // namespace direct::matrix
