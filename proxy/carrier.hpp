// Carries requests from the FIFOs to the fabric, and their ends back: a turn at a time, without a
// thread of its own and without waiting.
//
// Requests that the fabric has no room for wait in a line, one for each FIFO and peer, and all
// later requests of this FIFO for that peer wait behind them. So a FIFO's order is kept, FIFOs are
// emptied for other peers, and a FIFO that is never empty holds up no other one. A peer gets at
// most as much of the fabric's room as is left: half of it if it is alone. Whatever a few peers
// keep by not answering, as much again is free.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/trace/recorder.hpp"
#include "host/transport/transport.hpp"
#include "proxy/counts/counts.hpp"
#include "proxy/fifo.hpp"

namespace chime::proxy {

class Carrier {
 public:
  struct Limits {
    std::uint64_t heap_bytes;  // of every PE
    unsigned batch;            // requests from one FIFO, before the next is visited
    int my_pe = -1;            // for the timeline
  };

  // All of them outlive it. `counts`: written by the thread that carries.
  Carrier(host::HostDriven& fabric, std::span<Fifo> fifos, const Limits& limits, Counts& counts);

  // Visits each FIFO once, and the fabric. Whether anything was to be done.
  bool turn();

  // Whether no request is in flight that was taken from a FIFO.
  bool is_idle() const { return under_way_ == 0; }
  // Whether a FIFO has something to take: a load of each.
  bool has_requests();

 private:
  struct Line;
  // A request that was taken, until it ends. The fabric carries it in up to two parts: a put and
  // its signal, which may be one.
  struct Flight {
    std::uint64_t id = 0;
    Fifo::Request* request = nullptr;
    Line* line = nullptr;
    std::uint16_t left_to_post = 0, left_to_end = 0;
    chimex_status status = CHIMEX_OK;
    Flight* behind = nullptr;  // in its line
    trace::Event* traced = nullptr;
  };
  struct Peer {
    std::size_t with_fabric = 0;  // parts that were posted and have not ended
  };
  // A FIFO's requests for a peer that the fabric had no room for.
  struct Line {
    Fifo* fifo = nullptr;
    Peer* peer = nullptr;
    Flight *first = nullptr, *last = nullptr;
    bool was_served = false;  // when the lines were last gone through
    bool is_waiting() const { return first != nullptr; }
  };
  struct Source {
    Fifo* fifo;
    std::unordered_map<int, Line> lines;  // by the PE that something was sent to
  };

  using Clock = std::chrono::steady_clock;

  void note_look();
  bool visit(Source& source);
  Line& line_of(Source& source, int pe);
  Flight& board(Source& source, Fifo::Request& request);
  host::HostRequest next_part(Flight& flight) const;
  bool may_have_more(const Peer& peer) const;
  bool post(Flight& flight);
  void send(Flight& flight);
  bool send_line(Line& line);
  bool send_waiting();
  bool take_ended();
  void end_part(Flight& flight, chimex_status status);

  host::HostDriven& fabric_;
  const Limits limits_;
  std::vector<Source> sources_;
  // The source that is visited first in a turn. It changes each turn, because earlier sources may
  // take all the room that the fabric has.
  std::size_t first_ = 0;
  std::deque<Flight> flights_;  // as many as were ever in flight at once
  std::vector<Flight*> free_;
  std::unordered_map<int, Peer> peers_;          // that something was sent to
  std::vector<Line*> waiting_;                   // lines that are not empty; the next one first
  const std::size_t room_;                       // of the fabric, for parts
  std::size_t under_way_ = 0, with_fabric_ = 0;  // requests; parts
  Clock::time_point last_look_;
  Counts& counts_;
};

}  // namespace chime::proxy
