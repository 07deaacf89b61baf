// Carries requests from the FIFOs to the fabric, and their ends back: a turn at a time, without a
// thread of its own and without waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/transport/transport.hpp"
#include "proxy/counts.hpp"
#include "proxy/fifo.hpp"

namespace chime::proxy {

class Carrier {
 public:
  struct Limits {
    std::uint64_t heap_bytes;  // of every PE
    unsigned batch;            // requests from one FIFO, before the next is visited
  };

  // All of them outlive it. `counts`: written by who carries.
  Carrier(host::HostDriven& fabric, std::span<Fifo> fifos, const Limits& limits, Counts& counts);

  // Visits each FIFO once, and the fabric. Whether anything was to be done.
  bool turn();

  // Whether nothing is under way that was taken from a FIFO.
  bool is_idle() const { return under_way_ == 0; }
  // Whether a FIFO has something to take: a load of each.
  bool has_requests();

 private:
  // A request that was taken, until it ends. The fabric carries it in up to two parts: a put and
  // its signal, which may be one.
  struct Flight {
    Fifo::Request* request = nullptr;
    std::uint32_t fifo = 0;
    std::uint16_t left_to_post = 0, left_to_end = 0;
    chimex_status status = CHIMEX_OK;
  };
  // A FIFO, and the one of its requests that the fabric had no room for.
  struct Source {
    Fifo* fifo;
    Flight* held = nullptr;
  };

  using Clock = std::chrono::steady_clock;

  void note_look();
  bool visit(Source& source);
  Flight* board(Source& source, Fifo::Request& request);
  host::HostRequest next_part(Flight& flight) const;
  bool post(Flight& flight);
  bool take_ended();
  void end_part(Flight& flight, chimex_status status);
  std::uint64_t id_of(const Flight& flight) const;

  host::HostDriven& fabric_;
  const Limits limits_;
  std::vector<Source> sources_;
  // Who is visited first in a turn: each in its turn, for those before may take all the room that
  // the fabric has.
  std::size_t first_ = 0;
  std::vector<Flight> flights_;  // as many as all FIFOs can hold
  std::vector<Flight*> free_;
  std::size_t under_way_ = 0;
  Clock::time_point last_look_;
  Counts& counts_;
};

}  // namespace chime::proxy
