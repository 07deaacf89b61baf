// Requests of this PE that go through bounce buffers, piece by piece. A piece is
//
//   put, short    copied out into a small slot, and on in a message as a put of the host's memory
//   put           copied out into a large slot, which the owner is asked to read; answered when the
//                 data is in its memory
//   get, short    asked for; its data comes in a message, and is copied in from a small slot
//   get           asked for with a large slot, into which the owner writes; then copied in
//
// The processor copies data that lies in the host's memory here, at once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "host/transport/ofi/bounce/device_ranges.hpp"
#include "host/transport/ofi/bounce/device_work.hpp"
#include "host/transport/ofi/bounce/request_sink.hpp"
#include "host/transport/ofi/bounce/slots.hpp"

namespace chime::host::ofi {

class Initiator {
 public:
  // All of them outlive this.
  Initiator(DeviceWork& work, SlotPool::Side& slots, const DeviceRanges& ranges,
            RequestSink& request_sink)
      : work_(work), slots_(slots), ranges_(ranges), request_sink_(request_sink) {}

  // Whether the host reads, and writes, what the request names here.
  bool is_of_host(const HostRequest& wanted) const { return !ranges_.holds(wanted.here); }
  static bool is_carried(const HostRequest& wanted) { return wanted.bytes <= kMostCarriedBytes; }

  // A put or get, not empty.
  void start(PeerLink& link, Request& request);
  // Whether an answer, or data, is to a piece.
  static bool is_of_piece(std::uint64_t id) { return (id & kPieceBit) != 0; }
  // Its request; null: it was not asked of this peer.
  Request* asked(const PeerLink& link, std::uint64_t id) {
    const Piece* const piece = find(link, id);
    return piece ? piece->request : nullptr;
  }
  // REQUIRES: it was.
  void on_answer(PeerLink& link, const Message& answer, std::span<const std::byte> data);
  // Requests that wait for slots get the free ones.
  void poll() {
    if (is_any_free_) feed();
  }

  // Pieces for a lost peer end here; the driver ends their requests.
  void lose(PeerLink& link);
  // It touches nothing here any more.
  void reclaim(const PeerLink& link);

 private:
  struct Piece {
    std::uint32_t index = 0, generation = 0;
    PeerLink* link = nullptr;
    Request* request = nullptr;
    std::size_t offset = 0, bytes = 0;
    Slot* slot = nullptr;  // null: it needs none
    bool is_live = false, is_asked = false, is_copied = false;

    std::uint64_t id() const { return kPieceBit | std::uint64_t{generation} << 32 | index; }
    std::byte* here() const { return request->wanted.here + offset; }
  };
  struct Wanting {
    PeerLink* link;
    Request* request;  // null: it has ended
  };
  static constexpr std::uint64_t kPieceBit = std::uint64_t{1} << 63;
  static constexpr unsigned kMostPieces = 4;  // of one request at a time

  void feed();
  bool begin_next(const Wanting& one);
  bool take_slot(PeerLink& link, const Request& request, Slot*& slot);
  void begin_put(Piece& piece);
  void begin_get(Piece& piece);
  void on_copied_out(Piece& piece);
  void bring_in(Piece& piece, std::span<const std::byte> data);
  void end(Piece& piece);
  bool let_go(Piece& piece);
  Piece& new_piece();
  Piece* find(const PeerLink& link, std::uint64_t id);
  void free(Piece& piece);
  void give_back_slot(Piece& piece);
  void forget(const Request& request);

  DeviceWork& work_;
  SlotPool::Side& slots_;
  const DeviceRanges& ranges_;
  RequestSink& request_sink_;
  std::deque<Piece> pieces_;  // at stable addresses
  std::vector<Piece*> free_;
  std::vector<Wanting> wanting_;
  bool is_feeding_ = false, is_any_free_ = false;
  std::map<int, std::vector<Slot*>> abandoned_;  // by peer
};

}  // namespace chime::host::ofi
