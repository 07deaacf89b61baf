// Transfers of memory that is not registered: the stack, globals, `__shared__`. They go through the
// two halves of a staging slot: one is filled or emptied while the other is in transit.
//
// One thread moves the bytes, also for a warp or block. A slot whose request has failed stays with
// the channel.
#ifndef CHIME_DEVICE_PATH_STAGED_CUH_
#define CHIME_DEVICE_PATH_STAGED_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/local_memory.cuh"
#include "chime/device/path/staging_slots.cuh"

namespace chime::staging {

using abi::Channel;
using channel::Ticket;

// How a path moves the contents of a slot. `Mover` has
//
// kPath.
// Remote: an address at the peer; advanced(remote, bytes).
// pe_of(channel, remote): the peer.
// post<kWrites>(ctx, channel, all, chunk): one request for the chunk.
// await(ctx, channel, all, chunk, target): waits for that request; false if it failed.
// await_all(ctx, channel, all): the same for all requests. REQUIRES: all but the last two have
// ended.

// A transfer through a slot, in chunks of half of it. It lies in memory, not in registers.
template <class Mover>
struct Staged {
  typename Mover::Remote remote;
  std::byte* memory;  // source or destination
  std::size_t bytes;
  std::uint32_t slot = 0;
  Halves halves = {};
  std::uint64_t chunk = 0;             // the next one
  std::uint64_t before = 0, last = 0;  // targets of the last two requests

  CHIME_DEVICE bool is_over() const { return chunk * halves.bytes >= bytes; }
  CHIME_DEVICE std::byte* begin(std::uint64_t chunk) const { return memory + chunk * halves.bytes; }
  CHIME_DEVICE std::size_t bytes_of(std::uint64_t chunk) const {
    const std::size_t rest = bytes - chunk * halves.bytes;
    return rest < halves.bytes ? rest : halves.bytes;
  }
  CHIME_DEVICE auto remote_of(std::uint64_t chunk) const {
    return advanced(remote, chunk * halves.bytes);
  }
};

namespace detail {

// Memory that other agents read and write is accessed like a peer's.
using chime::detail::Peer;
using chime::detail::Private;

template <class W, class From, class To>
CHIME_DEVICE_OUT_OF_LINE void copy_words(std::byte* dst, const std::byte* src, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(W)) {
    To::store(dst + at, From::template load<W>(src + at));
  }
}

// Simpler than copy.cuh, which moves more words at once: here registers cost more than time.
template <class From, class To>
CHIME_DEVICE void copy_chunk(std::byte* dst, const std::byte* src, std::size_t bytes) {
  if (exec::memcpy_is_relaxed()) return static_cast<void>(memcpy(dst, src, bytes));
  const std::uint64_t both =
      reinterpret_cast<std::uint64_t>(dst) | reinterpret_cast<std::uint64_t>(src);
  const std::size_t rest = both % 16 == 0 ? bytes % 16 : both % 4 == 0 ? bytes % 4 : bytes;
  const std::size_t whole = bytes - rest;
  if (both % 16 == 0) {
    copy_words<exec::Vec16, From, To>(dst, src, whole);
  } else {
    copy_words<std::uint32_t, From, To>(dst, src, whole);
  }
  copy_words<std::uint8_t, From, To>(dst + whole, src + whole, rest);
}

template <bool kWrites, class Mover>
CHIME_DEVICE_OUT_OF_LINE bool post_chunk(const Context& ctx, Channel& channel, Staged<Mover>& all,
                                         std::uint64_t chunk) {
  const Ticket ticket = Mover::template post<kWrites>(ctx, channel, all, chunk);
  if (!ticket.ok()) return false;
  all.before = all.last;
  all.last = ticket.target;
  return true;
}

// Chunk c - 2 had the same half: chunk c is filled when that one has left.
template <class Mover>
CHIME_DEVICE_OUT_OF_LINE bool write_chunk(const Context& ctx, Channel& channel,
                                          Staged<Mover>& all) {
  const std::uint64_t chunk = all.chunk++;
  if (chunk >= 2 && !Mover::await(ctx, channel, all, chunk - 2, all.before)) return false;
  copy_chunk<Private, Peer>(all.halves.at(chunk), all.begin(chunk), all.bytes_of(chunk));
  return post_chunk<true>(ctx, channel, all, chunk);
}

// Chunk c + 1 is in transit while chunk c is emptied.
template <class Mover>
CHIME_DEVICE_OUT_OF_LINE bool read_chunk(const Context& ctx, Channel& channel, Staged<Mover>& all) {
  const std::uint64_t chunk = all.chunk++;
  if (chunk == 0 && !post_chunk<false>(ctx, channel, all, 0)) return false;
  if (!all.is_over() && !post_chunk<false>(ctx, channel, all, chunk + 1)) return false;
  const bool is_last = all.is_over();
  if (!Mover::await(ctx, channel, all, chunk, is_last ? all.last : all.before)) return false;
  copy_chunk<Peer, Private>(all.begin(chunk), all.halves.at(chunk), all.bytes_of(chunk));
  return true;
}

// `move()` moves the next chunk.
template <class Mover, class Move>
CHIME_DEVICE bool move(const Context& ctx, Channel& channel, Staged<Mover>& all, Move move) {
  if (!channel::may_post<Mover::kPath>(ctx, channel)) return false;
  all.slot = take_slot(ctx, channel, Mover::pe_of(channel, all.remote));
  if (all.slot == kNoSlot) return false;
  const exec::Committed to_free_the_slot;
  all.halves = halves_of(ctx.nic.staging, all.slot);
  bool is_done = true;
  while (is_done && !all.is_over()) is_done = move();
  is_done = is_done && Mover::await_all(ctx, channel, all);
  give_back(ctx, all.slot, channel, is_done ? 0 : all.last);
  return is_done;
}

}  // namespace detail

// The transfer is complete when these return; false if it failed.
template <class Mover>
CHIME_DEVICE_OUT_OF_LINE bool write(const Context& ctx, Channel& channel,
                                    typename Mover::Remote remote, const void* src,
                                    std::size_t bytes) {
  Staged<Mover> all = {remote, static_cast<std::byte*>(const_cast<void*>(src)), bytes};
  exec::keep_in_memory(all);
  return detail::move(ctx, channel, all, [&] { return detail::write_chunk(ctx, channel, all); });
}

template <class Mover>
CHIME_DEVICE_OUT_OF_LINE bool read(const Context& ctx, Channel& channel,
                                   typename Mover::Remote remote, void* dst, std::size_t bytes) {
  Staged<Mover> all = {remote, static_cast<std::byte*>(dst), bytes};
  exec::keep_in_memory(all);
  return detail::move(ctx, channel, all, [&] { return detail::read_chunk(ctx, channel, all); });
}

}  // namespace chime::staging

#endif  // CHIME_DEVICE_PATH_STAGED_CUH_
