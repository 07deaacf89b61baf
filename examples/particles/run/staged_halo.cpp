#include "run/staged_halo.hpp"

#include "kernels/staged.cuh"

namespace particles {
namespace {

// The data for the neighbour in one direction, and its place there.
template <class Real>
struct Message {
  Real* to;           // in the neighbour's landing
  std::size_t first;  // in the packed positions
  std::size_t bytes;
  std::uint64_t* signal;  // on the neighbour
  int pe;
};

template <class Real>
Message<Real> message_to(const View<Real>& view, int d) {
  return {.to = view.landing + 3 * static_cast<std::size_t>(view.peer_offset[d]),
          .first = 3 * static_cast<std::size_t>(view.send_start[d]),
          .bytes = 3 * sizeof(Real) *
                   static_cast<std::size_t>(view.send_start[d + 1] - view.send_start[d]),
          .signal = &view.board->slot[opposite(d)].ghosts,
          .pe = view.neighbour[d]};
}

template <class Visit>
void for_each_direction(Visit visit) {
  for (int d = 0; d < kDirections; ++d) {
    if (d != kHome) visit(d);
  }
}

}  // namespace

template <class Real>
void exchange_on_stream(const Memory<Real>& memory, const Launcher& launcher, int parity,
                        std::uint64_t exchange) {
  const View<Real>& view = memory.view;
  launcher.grid(pack_step<Real>, view, parity);
  for_each_direction([&](int d) {
    const Message<Real> m = message_to(view, d);
    chimex_putmem_signal_on_stream(m.to, view.send + m.first, m.bytes, m.signal, exchange,
                                   CHIME_SIGNAL_SET, m.pe, nullptr);
  });
  for_each_direction([&](int d) {
    chimex_signal_wait_until_on_stream(&view.board->slot[d].ghosts, CHIME_CMP_GE, exchange,
                                       nullptr);
  });
  launcher.grid(unpack_step<Real>, view, parity);
}

template <class Real>
void exchange_on_host(const Memory<Real>& memory, const Launcher& launcher, int parity,
                      std::uint64_t exchange, std::vector<Real>& staging) {
  const View<Real>& view = memory.view;
  launcher.grid(pack_step<Real>, view, parity);
  staging.resize(3 * static_cast<std::size_t>(view.send_start[kDirections]));
  download(staging.data(), view.send, staging.size());
  for_each_direction([&](int d) {
    const Message<Real> m = message_to(view, d);
    chime_putmem_signal(m.to, staging.data() + m.first, m.bytes, m.signal, exchange,
                        CHIME_SIGNAL_SET, m.pe);
  });
  for_each_direction(
      [&](int d) { chime_signal_wait_until(&view.board->slot[d].ghosts, CHIME_CMP_GE, exchange); });
  launcher.grid(unpack_step<Real>, view, parity);
}

template void exchange_on_stream(const Memory<double>&, const Launcher&, int, std::uint64_t);
template void exchange_on_stream(const Memory<float>&, const Launcher&, int, std::uint64_t);
template void exchange_on_host(const Memory<double>&, const Launcher&, int, std::uint64_t,
                               std::vector<double>&);
template void exchange_on_host(const Memory<float>&, const Launcher&, int, std::uint64_t,
                               std::vector<float>&);

}  // namespace particles
