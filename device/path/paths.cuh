// The paths that device code is compiled for: a bit for each value of Path. A program that knows
// that its peers are mapped may leave out what it does not need. Alike in all its translation
// units: without a path that goes by channels, fence, quiet and waits look at none.
#ifndef CHIME_DEVICE_PATH_PATHS_CUH_
#define CHIME_DEVICE_PATH_PATHS_CUH_

#include "chime/abi/pe.h"

#ifndef CHIME_PATHS
#define CHIME_PATHS (1 << 1 | 1 << 2 | 1 << 3)
#endif

namespace chime::detail {

template <Path kPath>
inline constexpr bool kIsCompiled = (CHIME_PATHS >> static_cast<unsigned>(kPath) & 1) != 0;

inline constexpr bool kHasChannels = kIsCompiled<Path::kNic> || kIsCompiled<Path::kProxy>;

}  // namespace chime::detail

#endif  // CHIME_DEVICE_PATH_PATHS_CUH_
