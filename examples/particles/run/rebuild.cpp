#include "run/rebuild.hpp"

#include <algorithm>

#include "files/progress.hpp"
#include "kernels/ghost_lists.cuh"
#include "kernels/neighbours.cuh"
#include "run/sorting.hpp"

namespace particles {
namespace {

[[noreturn]] void fail_full(int pe, const char* what, int needed, int room) {
  throw std::runtime_error(
      fmt::format("PE {} has room for {} {} and would need {}: the system has become much denser "
                  "here than it was at the start; "
                  "use fewer PEs or another --grid",
                  pe, room, what, needed));
}

}  // namespace

template <class Real>
Rebuilder<Real>::Rebuilder(Memory<Real>& memory, const Launcher& launcher)
    : memory_(memory), launcher_(launcher), handshake_(1) {}

template <class Real>
void Rebuilder<Real>::run(std::int64_t step, std::uint64_t exchange) {
  const int parity = static_cast<int>(step & 1);
  ++rebuild_;
  Phase phase(fmt::format("rebuilding the neighbour lists at step {}", step));
  migrate(parity);
  list_ghosts(parity);
  launcher_.grid(exchange_ghosts<Real>, memory_.view, parity, exchange);
  bin_all(parity);
  fill_rows(parity);
}

// Sends the neighbours the number of items for each of them (`memory_.start`) and learns their
// places.
template <class Real>
HandshakeResult Rebuilder<Real>::shake_hands(int base, int room, const char* what) {
  launcher_.block(handshake<Real>, memory_.view, memory_.start.data(),
                  HandshakeArguments{++round_, base, room}, handshake_.data());
  HandshakeResult result;
  download(&result, handshake_.data(), 1);
  if (result.needed > room) fail_full(memory_.view.pe, what, result.needed, room);
  return result;
}

template <class Real>
void Rebuilder<Real>::migrate(int parity) {
  View<Real>& view = memory_.view;
  std::int32_t* route = memory_.route.data();
  launcher_.with_lanes(
      [&](auto lanes) { launcher_.grid(route_atoms<lanes(), Real>, view, parity, route); });
  if (minimum(route, view.own) == kLost) {
    throw std::runtime_error(
        fmt::format("PE {}: an atom moved by more than a subdomain between two steps: the system "
                    "has come apart; use a smaller --dt",
                    view.pe));
  }
  const int stayed = select_equal(route, view.own, kHome, memory_.chosen.data());
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(keep_atoms<lanes(), Real>, view, parity, memory_.chosen.data(), stayed,
                   memory_.scratch);
  });

  // `order`: the atoms that leave, sorted by direction.
  const int left = select_other(route, view.own, kHome, memory_.order.data());
  gather(route, memory_.order.data(), left, memory_.key.data());
  sort_by_key(memory_.key.data(), memory_.order.data(), left);
  find_starts(memory_.key.data(), left, memory_.start.data(), kDirections + 1);
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(pack_travellers<lanes(), Real>, view, parity, memory_.order.data(), left);
  });

  const HandshakeResult answer = shake_hands(0, view.own_capacity - stayed, "atoms");
  TravelArguments travel_arguments;
  travel_arguments.rebuild = rebuild_;
  download(travel_arguments.start, memory_.start.data(), kDirections + 1);
  std::copy_n(answer.peer_offset, kDirections, travel_arguments.peer_offset);
  launcher_.block(travel<Real>, view, travel_arguments);
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(admit_travellers<lanes(), Real>, view, stayed, answer.needed, memory_.scratch);
  });
  sort_atoms(parity, stayed + answer.needed);
}

// Sorts the atoms in the scratch arrays by cell, so that neighbours in space are neighbours in
// memory.
template <class Real>
void Rebuilder<Real>::sort_atoms(int parity, int count) {
  const Scratch<Real>& scratch = memory_.scratch;
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(find_cells<lanes(), Real>, memory_.view.cells, scratch.x[0], scratch.x[1],
                   scratch.x[2], count, memory_.key.data());
  });
  fill_sequence(memory_.order.data(), count);
  sort_by_key(memory_.key.data(), memory_.order.data(), count);
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(settle_atoms<lanes(), Real>, memory_.view, parity, scratch, memory_.order.data(),
                   count);
  });
  memory_.view.own = count;
  memory_.view.ghosts = 0;
}

template <class Real>
void Rebuilder<Real>::list_ghosts(int parity) {
  View<Real>& view = memory_.view;
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(count_observers<lanes(), Real>, view, parity, memory_.number.data());
  });
  const int entries = exclusive_sum(memory_.number.data(), view.own, memory_.entry.data());
  if (entries > view.capacity) fail_full(view.pe, "positions to send", entries, view.capacity);
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(list_observers<lanes(), Real>, view, parity, memory_.entry.data(),
                   memory_.key.data(), view.send_list);
  });
  sort_by_key(memory_.key.data(), view.send_list, entries);
  find_starts(memory_.key.data(), entries, memory_.start.data(), kDirections + 1);

  const HandshakeResult answer = shake_hands(view.own, view.capacity - view.own, "ghosts");
  download(view.send_start, memory_.start.data(), kDirections + 1);
  std::copy_n(answer.received_start, kDirections + 1, view.ghost_start);
  std::copy_n(answer.peer_offset, kDirections, view.peer_offset);
  std::copy_n(answer.peer_base, kDirections, view.peer_base);
  view.ghosts = answer.needed;
}

// Sorts own atoms and ghosts by cell into `order`, with the beginnings of cells and the positions
// in that order.
template <class Real>
void Rebuilder<Real>::bin_all(int parity) {
  const View<Real>& view = memory_.view;
  const int count = view.own + view.ghosts;
  const int cells = view.cells.n[0] * view.cells.n[1] * view.cells.n[2];
  Real* const* x = view.x[parity];
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(find_cells<lanes(), Real>, view.cells, x[0], x[1], x[2], count,
                   memory_.key.data());
  });
  fill_sequence(memory_.order.data(), count);
  sort_by_key(memory_.key.data(), memory_.order.data(), count);
  find_starts(memory_.key.data(), count, memory_.cell_start.data(), cells + 1);
}

// Makes rows longer if they turn out too short for some atom, and fills them again.
template <class Real>
void Rebuilder<Real>::fill_rows(int parity) {
  const SortedAtoms<Real> sorted{
      memory_.cell_start.data(),
      memory_.order.data(),
      {memory_.sorted[0].data(), memory_.sorted[1].data(), memory_.sorted[2].data()}};
  launcher_.with_lanes([&](auto lanes) {
    launcher_.grid(gather_positions<lanes(), Real>, memory_.view, parity, sorted);
    for (;;) {
      launcher_.grid(build_rows<lanes(), Real>, memory_.view, parity, sorted);
      const int longest = maximum(memory_.view.row_length, memory_.view.own);
      if (longest < memory_.view.row_capacity) break;
      memory_.set_row_capacity((longest / kRowUnit + 2) * kRowUnit);
    }
  });
}

template class Rebuilder<double>;
template class Rebuilder<float>;

}  // namespace particles
