#include "support/schedule.hpp"

#include "chime/device/simt/launch/options.hpp"

namespace chime::tests {

namespace {

// In weak mode the executor makes the stores, late, and TSan does not see the executor's accesses:
// it finds the same missing orders where the kernels store themselves.
#if defined(CHIME_TSAN)
constexpr bool kSeesWeakStores = false;
#else
constexpr bool kSeesWeakStores = true;
#endif

// The options of the environment, before the first Schedule: PEs that are threads share the
// options, so that none may take another's Schedule for them.
const simt::Options& initial_options() {
  static const simt::Options initial = simt::options();
  return initial;
}

}  // namespace

Schedule::Schedule(std::uint64_t seed, bool weak) {
  simt::Options options = initial_options();
  options.seed = seed;
  options.weak = weak && kSeesWeakStores;
  simt::set_options(options);
}

Schedule::~Schedule() { simt::set_options(initial_options()); }

}  // namespace chime::tests
