// One PE's part of the system, as kernels see it. Plain data, passed to kernels by value.
//
// Arrays are structures of arrays. Atoms 0 .. own-1 are mine, sorted by cell; own .. own+ghosts-1
// are copies of neighbours' atoms (or of mine, seen through the periodic box), in the order of
// directions. README.md has pictures.
#pragma once

#include <cstdint>

#include "chime/chime.h"
#include "system/domain.hpp"

namespace particles {

namespace exec = chime::exec;

// Rows of neighbour lists are filled up to a multiple of this, so that the inner loop needs no
// remainder.
inline constexpr int kRowUnit = 8;

// Rounds of the agreement between PEs: enough for 2^32.
inline constexpr int kRounds = 32;

// Sums over atoms at an output step.
enum SumIndex { kKinetic2, kPotential, kVirial, kMomentumX, kMomentumY, kMomentumZ, kAtoms, kSums };

// Words that the neighbour in one direction writes, one cache line. Every word only grows, so a
// waiter can never miss a value. A word that carries a number has the round in its upper half and
// the number in its lower half.
struct alignas(64) Slot {
  std::uint64_t
      ghosts;  // exchange number: that neighbour's atoms are in my ghosts' place (or landing)
  std::uint64_t count;       // round | how many it is going to send
  std::uint64_t offset;      // round | answer to my count: where in its ghosts my atoms go
  std::uint64_t base;        // round | answer to my count: how many atoms it owns
  std::uint64_t travellers;  // rebuild number: its emigrants are in my arrivals
};

// All words that peers write. In the symmetric heap, zero at the start.
struct Board {
  Slot slot[kDirections];
  struct alignas(64) {
    std::uint64_t word[kRounds];
  } agreement[2];  // by parity of the step: 2 * step + flag
};

// An atom in transit to its new owner.
template <class Real>
struct Traveller {
  Real x[3], v[3];
  std::int64_t id;
  std::int32_t image[3];
};

// How a PE's work is spread over threads: `lanes` neighbouring threads take neighbouring atoms (32
// if threads of a warp read memory together, 1 if a thread has a core and its cache to itself).
struct Shape {
  int blocks;
  int threads;
  int lanes;
};

// The cells that atoms are sorted into: the PE's box and a margin as wide as the reach, in cells at
// least half the reach wide, so that all partners of an atom lie within two cells.
template <class Real>
struct Cells {
  Real lo[3];
  Real inverse[3];
  int n[3];
};

template <class Real>
struct View {
  // Identity and position
  int pe, pes;
  Real box_lo[3], box_length[3];
  Real mine_lo[3], mine_hi[3];
  int grid[3], coordinate[3];
  int neighbour[kDirections];
  Real shift[kDirections][3];
  Cells<Real> cells;

  // Symmetric: peers write ghosts' positions of both parities; PE 0 reads the rest for output
  Real* x[2][3];
  Real* v[3];
  Real* f[3];
  std::int64_t* id;
  std::int32_t* image[3];
  Board* board;
  Real* send;     // packed positions to send, 3 * capacity
  Real* landing;  // place of packed positions in the modes that unpack, 3 * capacity
  Traveller<Real>* departures;
  Traveller<Real>* arrivals;
  double* sums;      // [pes][2 * kSums]: high and low parts
  int capacity;      // of own + ghosts; index `capacity` is nowhere
  int own_capacity;  // of own, and of arrivals and departures

  // Private
  Real* x_built[3];  // positions at the last rebuild
  Real* energy;      // per atom, at output steps
  Real* virial;
  std::int32_t* neighbours;  // rows of row_capacity, interleaved over `lanes` atoms
  std::int32_t* row_length;  // without the filling
  std::int32_t* send_list;   // atoms by direction
  double* partial;           // [blocks * threads][2 * kSums]
  std::int64_t* moved;       // [2] by parity: last step at which an atom had moved too far
  std::int32_t* decision;    // the PEs' common decision: 1 = rebuild
  int row_capacity;

  // Since the last rebuild
  int own, ghosts;
  int send_start[kDirections + 1];
  int peer_offset[kDirections];      // where in the neighbour's ghosts mine go
  int peer_base[kDirections];        // how many atoms it owns: its first ghost
  int ghost_start[kDirections + 1];  // which of my ghosts come from each direction

  // Physics
  Real dt, half_dt;
  Real cutoff2, cutoff;
  Real reach, reach2;
  Real limit2;  // square of the displacement that asks for a rebuild
  Real energy_shift, force_shift;
};

// Why the step loop left the device.
enum class Reason : std::int32_t { kOutput = 1, kRebuild = 2 };

// Where the step loop starts.
enum class Entry : std::int32_t {
  kStart,    // positions are of step 0: forces first
  kRebuilt,  // positions are of this step: forces, then the second half of its kick
  kContinue  // this step is complete: drift to the next
};

struct StepsArguments {
  std::int64_t step;
  std::int64_t stop;  // output step: sums are taken there, then the loop ends
  Entry entry;
  std::uint64_t exchange;  // number of the last ghost exchange
};

struct StepsResult {
  std::int64_t step;
  std::uint64_t exchange;
  Reason reason;
};

}  // namespace particles
