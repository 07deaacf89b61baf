// The objects on the NIC: memory regions, queues, pages of doorbells. Plain records; device.hpp
// owns them, the engine (requester, responder, completer) changes their state under the device's
// lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "event_queue.hpp"
#include "softnic/engine/gpu_memory.hpp"
#include "softnic/engine/wqe.hpp"
#include "softnic/wire/packet.hpp"

namespace softnic {

using Clock = std::chrono::steady_clock;

// As in IB verbs: the access that a region or a queue pair permits.
enum Access : std::uint32_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
};

struct MemoryRegion {
  std::uint32_t key = 0;  // lkey and rkey
  std::uint32_t pd = 0;
  std::uint64_t start = 0;  // host address of the first byte
  std::uint64_t bytes = 0;
  std::uint64_t iova = 0;  // the address of the first byte in requests
  std::uint32_t access = 0;
  std::uint8_t variant = 0xab;  // low byte of the key

  // An indirect region has no memory of its own: it consists of pieces of 2^log_piece bytes of
  // other regions.
  struct Piece {
    std::uint32_t key = 0;
    std::uint64_t address = 0;
  };
  std::vector<Piece> pieces;
  std::uint32_t log_piece = 0;
  GpuHold gpu;                     // null: memory of the program
  std::uint64_t seen_in_turn = 0;  // the engine's turn in which all of it was there
};

// Pages of the process that a DevX program gave to the device for queues and doorbell records.
struct Umem {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  bool is_writable = false;  // by the device
  GpuHold gpu = nullptr;
  std::uint64_t page = 4096;  // of the device
};

// The program's view of a queue.
struct Owner {
  int file = -1;         // the device file that created it: its asynchronous events go there
  bool is_devx = false;  // made by a firmware command: has no events on verbs channels
  std::uint64_t user_handle = 0;   // the program's name for it, in events
  std::uint32_t async_events = 0;  // sent; at destruction the program learns how many it has read
  std::uint32_t umems[2] = {};     // DevX: memory that must outlive it

  struct Subscription {  // DevX: an event of it that goes to a channel
    EventType type{};
    std::uint32_t number = 0;   // of the object
    int read_fd = -1;           // of the channel
    std::uint64_t channel = 0;  // its id: the number of a closed one may be used again
    std::uint64_t cookie = 0;
    std::shared_ptr<const int> counter;  // an eventfd that counts instead of the channel
  };
  std::vector<Subscription> subscriptions = {};
};

// A 4 KiB page of doorbell registers, mapped by the program and polled by the engine.
struct Uar {
  std::uint32_t page = 0;
  std::uint64_t* words = nullptr;
};

// A pipe to the program: completion events or asynchronous events. The second reader takes unread
// events back when their object is destroyed, and keeps the pipe open when the program has closed
// its end.
struct EventChannel {
  int read_fd = -1;   // the program's
  int write_fd = -1;  // never blocks: events that are not read are dropped
  int drain_fd = -1;
  bool tells_data = false;  // DevX: events come with their entry of the event queue
  std::uint64_t id = 0;
};

struct CompletionQueue {
  std::uint32_t cqn = 0;
  std::byte* ring = nullptr;
  std::uint32_t* records = nullptr;  // [0] consumer index, [1] arm; both big-endian
  std::uint32_t entries = 0;         // power of two
  std::uint32_t entry_bytes = 64;
  std::uint32_t uar_page = 0;
  bool collapsed = false;  // every completion goes to entry 0
  bool overrun_ignored = false;
  bool real_time = false;  // asked for the time of day in completions: no queue pair may use it
  bool overrun = false;    // an overrun happened: the queue is dead, as with hardware
  Owner owner;
  int channel = -1;              // read end of its completion channel, -1 without one
  std::uint32_t arm_seen = ~0u;  // last value of records[1] acted on; at first one that no arming
                                 // has, because that may be 0
  bool armed = false;
  bool armed_solicited = false;       // only a solicited completion or an error fires
  std::uint32_t solicited_until = 0;  // `produced` after the newest such completion
  std::uint32_t events_sent = 0;
  std::uint32_t produced = 0;
  std::deque<Completion> late;  // held back by a fault, in order, until late_until
  Clock::time_point late_until{};
};

struct SharedReceiveQueue {
  std::uint32_t srqn = 0;
  std::uint32_t pd = 0;
  std::byte* ring = nullptr;
  std::uint32_t* record = nullptr;  // [0] how many were posted, big-endian
  std::uint32_t entries = 0;
  std::uint32_t stride = 0;
  bool is_ring = false;    // entries follow each other; else each names the next one
  std::uint32_t head = 0;  // index of the next WQE to take
  std::uint16_t taken = 0;
  std::uint32_t limit = 0;  // event below this many; 0 = unarmed
  Owner owner;
};

// Values of enum ibv_qp_state and of the firmware. mlx5 cannot enter SQD, and the softnic cannot
// enter SQE.
enum class QpState : std::uint8_t { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kError = 6 };
enum class Transport : std::uint8_t { kRc, kUc, kUd };

// A WQE that was fetched and is not completed yet.
struct Outstanding {
  Request request;
  std::uint32_t sequence = 0;
  std::uint64_t sent = 0;      // payload bytes handed to the link
  std::uint64_t received = 0;  // of a read's answer
  bool all_sent = false;
  bool done = false;
  Syndrome syndrome = Syndrome::kNone;
  Clock::time_point deadline{};  // transport timeout; set when all_sent
  std::uint64_t fingerprint =
      0;  // of the WQE's bytes, to notice a change before completion (strict mode)
  void* observed = nullptr;  // what softnic_observer::begin has returned
};

// The answers that a responder owes a requester, in order.
struct Answer {
  PacketKind kind{};
  std::uint32_t sequence = 0;
  std::uint8_t syndrome = 0;
  std::uint32_t rkey = 0;  // of a read's source, with its address there
  std::uint64_t address = 0;
  std::uint64_t total = 0;
  std::uint64_t sent = 0;
  std::uint8_t inlined[8] = {};  // an atomic's old value
  bool is_inlined = false;
};

// A packet that came too early: no receive WQE was posted, or the queue pair is not ready.
struct Stashed {
  PacketHeader header;
  std::vector<std::byte> payload;
};

// A packet of a write that, by a fault, later ones overtake before it reaches memory.
struct Overtaken {
  Stashed packet;
  Clock::time_point until{};
  // The newest message to acknowledge when it is placed: all earlier ones are placed then.
  std::optional<std::uint32_t> whole_until{};
};

// A receive WQE that a message is being placed into.
struct Receiving {
  bool active = false;
  std::uint16_t counter = 0;
  std::vector<ScatterEntry> list;
};

struct QueuePair {
  std::uint32_t qpn = 0;
  std::uint32_t pd = 0;
  Transport transport = Transport::kRc;
  QpState state = QpState::kReset;
  Owner owner;
  std::uint32_t user_index = 0;
  std::uint32_t uar_page = 0;

  std::byte* send_ring = nullptr;
  std::uint32_t send_blocks = 0;  // power of two; 0 = no send queue
  std::byte* receive_ring = nullptr;
  std::uint32_t receive_entries = 0;
  std::uint32_t receive_shift = 0;  // log2 of an entry's bytes
  bool signals_all = false;  // the program's request, which its library carries out; for query
  std::uint32_t* records = nullptr;  // [0] receive, [1] send; big-endian counters
  std::uint32_t send_cqn = 0;
  std::uint32_t receive_cqn = 0;
  std::uint32_t srqn = 0;  // 0 = own receive queue

  std::uint32_t remote_qpn = 0;
  std::uint32_t access = 0;  // as the program requested; see granted()
  std::uint32_t qkey = 0;
  std::uint8_t timeout = 14;  // 4.096 us * 2^timeout; 0 = for ever
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  std::uint8_t path_mtu = 5;
  std::uint8_t max_reads = 16;  // outstanding reads and atomics
  std::uint8_t max_dest_reads = 16;
  std::uint32_t rq_psn = 0, sq_psn = 0;
  std::uint16_t pkey_index = 0;
  std::uint8_t port = 1;
  std::uint8_t destination[32] = {};  // as given, for query

  // requester
  bool rung = false;               // a doorbell came and the record is not reached yet
  std::uint32_t send_next = 0;     // next block to fetch
  std::uint32_t send_retired = 0;  // blocks whose WQEs are completed
  std::uint32_t next_sequence = 0;
  std::deque<Outstanding> outstanding;
  std::uint64_t unanswered_bytes = 0;  // payload of outstanding writes and sends
  unsigned unanswered_reads = 0;       // and atomics, of the outstanding: those that are not done
  bool peer_silent = false;  // the other NIC reports that no queue pair listens at remote_qpn
  bool path_leads_nowhere = false;  // to an address that no port of the fabric has
  bool error_reported = false;      // an error CQE was written since the last reset
  std::uint64_t wqes = 0;           // fetched so far, for fault rules

  // responder
  std::uint32_t receive_next = 0;
  Receiving receiving;
  std::deque<Stashed> stash;
  Clock::time_point not_ready_since{};  // first packet that found no receive WQE
  std::optional<Overtaken> overtaken;
  std::deque<Answer> answers;
  bool deaf = false;  // a message was given up: nothing after it is executed, until the reset
  std::uint64_t rx_wqes = 0;

  // The access of the remote side: without room for reads and atomics, neither is granted.
  std::uint32_t granted() const { return max_dest_reads == 0 ? access & kRemoteWrite : access; }
  // `o`, one of the outstanding, waits for nothing any more.
  void end(Outstanding& o) {
    if (o.request.is_read() && !o.done) --unanswered_reads;
    o.done = true;
  }
  bool can_send() const { return state == QpState::kRts; }
  bool can_receive() const { return state == QpState::kRtr || state == QpState::kRts; }
};

}  // namespace softnic
