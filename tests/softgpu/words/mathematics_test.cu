// Mathematical functions in a kernel against the host's: the same bits, for floats and doubles. A
// function from the host's library could be the wrong one, or of the wrong width; an instruction
// could round differently.
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/kernel_check.cuh"
#include "host_functions.h"

using namespace chime;
using namespace chime::tests;

template <class T>
struct Answers {
  static constexpr int kMost = 64;
  T of[kMost];
  int count;
  long rounded[4];
};

// Compiled twice: for kernels, and for the host.
template <class T>
CHIME_HOST_DEVICE void answer(T x, T y, T z, Answers<T>* answers) {
  int n = 0;
#define CHIME_OF_ONE(NAME) answers->of[n++] = std::NAME(x);
#define CHIME_OF_TWO(NAME) answers->of[n++] = std::NAME(x, y);
  SOFTGPU_HOST_FUNCTIONS_OF_ONE(CHIME_OF_ONE)
  SOFTGPU_HOST_FUNCTIONS_OF_TWO(CHIME_OF_TWO)
  CHIME_OF_ONE(abs)
  CHIME_OF_ONE(floor)
  CHIME_OF_ONE(ceil)
  CHIME_OF_ONE(trunc)
  CHIME_OF_ONE(rint)
  CHIME_OF_ONE(nearbyint)
  CHIME_OF_ONE(round)
  CHIME_OF_ONE(sqrt)
  CHIME_OF_TWO(fmin)
  CHIME_OF_TWO(fmax)
  CHIME_OF_TWO(copysign)
#undef CHIME_OF_TWO
#undef CHIME_OF_ONE
  answers->of[n++] = std::fma(x, y, z);
  answers->of[n++] = std::isnan(x) + 2 * std::isinf(x) + 4 * std::isfinite(x) + 8 * std::signbit(x);
  answers->count = n;
  const bool fits = std::isfinite(x) && std::abs(x) < 1000000;
  answers->rounded[0] = fits ? std::lround(x) : 0;
  answers->rounded[1] = fits ? std::llround(x) : 0;
  answers->rounded[2] = fits ? std::lrint(x) : 0;
  answers->rounded[3] = fits ? std::llrint(x) : 0;
}

template <class T>
CHIME_KERNEL void answer_in_a_kernel(T x, T y, T z, Answers<T>* answers) {
  answer(x, y, z, answers);
}

template <class T>
static bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
static void compare(T x, T y, T z) {
  Result<Answers<T>> in_a_kernel;
  CHIME_NEED(exec::launch({}, answer_in_a_kernel<T>, x, y, z, in_a_kernel.device()) == CHIMEX_OK);
  CHIME_NEED(exec::device_synchronize() == CHIMEX_OK);
  const Answers<T> got = in_a_kernel.read();
  Answers<T> wanted;
  answer(x, y, z, &wanted);
  CHIME_CHECK(got.count == wanted.count);
  for (int i = 0; i < wanted.count; ++i) {
    if (same(got.of[i], wanted.of[i])) continue;
    std::printf("function %d of (%g, %g, %g): %.17g in a kernel, %.17g on the host\n", i,
                static_cast<double>(x), static_cast<double>(y), static_cast<double>(z),
                static_cast<double>(got.of[i]), static_cast<double>(wanted.of[i]));
    ++failures;
  }
  for (int i = 0; i < 4; ++i) CHIME_CHECK(got.rounded[i] == wanted.rounded[i]);
}

template <class T>
static void compare_all() {
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const T x :
       {T(0.37), T(-2.5), T(2.5), T(0.5), T(-0.0), T(123456.789), T(1e-30), infinity, nan})
    for (const T y : {T(1.7), T(-3)}) compare<T>(x, y, T(0.1));
}

int main() {
  need_gpu();
  compare_all<float>();
  compare_all<double>();
  return verdict();
}
