// A sum of doubles that keeps the rounding errors: about 106 bits, so the order of additions does
// not show.
#pragma once

#include "kernels/state.cuh"

namespace particles {

struct Sum {
  double high = 0;
  double low = 0;

  // Knuth's two-sum: exact for any magnitudes.
  CHIME_HOST_DEVICE void add(double value) {
    const double total = high + value;
    const double part = total - high;
    low += (high - (total - part)) + (value - part);
    high = total;
  }
  CHIME_HOST_DEVICE void add(const Sum& other) {
    add(other.high);
    low += other.low;
  }
  CHIME_HOST_DEVICE double value() const { return high + low; }
};

}  // namespace particles
