// Requests through a staging slot, for memory that the NIC does not know (device/path/staged.cuh).
#ifndef CHIME_DEVICE_PATH_NIC_STAGE_CUH_
#define CHIME_DEVICE_PATH_NIC_STAGE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/transfer.cuh"
#include "chime/device/path/staged.cuh"

namespace chime::nic {

struct Staged {
  static constexpr Path kPath = Path::kNic;
  using Remote = nic::Remote;

  // No read needs a flush: the slots lie in the memory of the CQEs, as fetch slots do.
  template <bool kWrites>
  CHIME_DEVICE static Ticket post(const Context& ctx, Channel& queue,
                                  const staging::Staged<Staged>& all, std::uint64_t chunk) {
    constexpr auto kOpcode = kWrites ? abi::WqeOpcode::kWrite : abi::WqeOpcode::kRead;
    return detail::transfer_once(ctx, Alone{}, queue, kOpcode, {.units = 1},
                                 [&]() -> detail::Piece {
                                   return {all.remote_of(chunk), all.halves.local(chunk),
                                           static_cast<std::uint32_t>(all.bytes_of(chunk))};
                                 });
  }

  CHIME_DEVICE static int pe_of(const Channel& queue, const Remote&) { return queue.pe; }
  CHIME_DEVICE static bool await(const Context& ctx, Channel& queue, const staging::Staged<Staged>&,
                                 std::uint64_t, std::uint64_t target) {
    return await_done(ctx, queue, target);
  }
  CHIME_DEVICE static bool await_all(const Context& ctx, Channel& queue,
                                     const staging::Staged<Staged>& all) {
    return await_done(ctx, queue, all.last);  // and all before it
  }
};

// The transfer is complete when these return; false if it failed.
CHIME_DEVICE bool staged_write(const Context& ctx, Channel& queue, const Remote& remote,
                               const void* src, std::size_t bytes) {
  return staging::write<Staged>(ctx, queue, remote, src, bytes);
}
CHIME_DEVICE bool staged_read(const Context& ctx, Channel& queue, const Remote& remote, void* dst,
                              std::size_t bytes) {
  return staging::read<Staged>(ctx, queue, remote, dst, bytes);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_STAGE_CUH_
