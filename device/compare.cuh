// The six comparisons of waits and tests.
#ifndef CHIME_DEVICE_COMPARE_CUH_
#define CHIME_DEVICE_COMPARE_CUH_

#include "chime/device/exec/exec.cuh"

namespace chime {

// The values of CHIME_CMP_*.
enum class Cmp : int { kEq = 0, kNe = 1, kGt = 2, kLe = 3, kLt = 4, kGe = 5 };

// Signed types compare as signed, unsigned ones as unsigned.
template <class T>
CHIME_DEVICE bool compare(T a, Cmp cmp, T b) {
  switch (cmp) {
    case Cmp::kEq:
      return a == b;
    case Cmp::kNe:
      return a != b;
    case Cmp::kGt:
      return a > b;
    case Cmp::kLe:
      return a <= b;
    case Cmp::kLt:
      return a < b;
    case Cmp::kGe:
      return a >= b;
  }
  return false;
}

CHIME_DEVICE bool compare_exists(Cmp cmp) {
  return static_cast<unsigned>(cmp) <= static_cast<unsigned>(Cmp::kGe);
}

}  // namespace chime

#endif  // CHIME_DEVICE_COMPARE_CUH_
