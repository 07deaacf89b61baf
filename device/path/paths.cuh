// The paths that device code is compiled for: all of them, or those that CHIME_PATHS names, joined
// by |. -DCHIME_PATHS=CHIME_PATH_P2P compiles what mapped peers need. All translation units of a
// program must have the same paths: without a path by channels, fence, quiet and waits look at
// none.
#ifndef CHIME_DEVICE_PATH_PATHS_CUH_
#define CHIME_DEVICE_PATH_PATHS_CUH_

#include "chime/abi/pe.h"

// A bit for each value of Path.
#define CHIME_PATH_P2P (1 << 1)    // mapped peers
#define CHIME_PATH_NIC (1 << 2)    // peers that a NIC reaches
#define CHIME_PATH_PROXY (1 << 3)  // peers that the proxy reaches
#define CHIME_PATH_ALL (CHIME_PATH_P2P | CHIME_PATH_NIC | CHIME_PATH_PROXY)

#ifndef CHIME_PATHS
#define CHIME_PATHS CHIME_PATH_ALL
#endif
#if ((CHIME_PATHS)&CHIME_PATH_ALL) == 0 || ((CHIME_PATHS) & ~CHIME_PATH_ALL) != 0
#error \
    "CHIME_PATHS is one or more of CHIME_PATH_P2P, CHIME_PATH_NIC and CHIME_PATH_PROXY, joined by |"
#endif

namespace chime::detail {

template <Path kPath>
inline constexpr bool kIsCompiled = ((CHIME_PATHS) >> static_cast<unsigned>(kPath) & 1) != 0;

static_assert(1 << static_cast<unsigned>(Path::kP2p) == CHIME_PATH_P2P &&
              1 << static_cast<unsigned>(Path::kNic) == CHIME_PATH_NIC &&
              1 << static_cast<unsigned>(Path::kProxy) == CHIME_PATH_PROXY);

inline constexpr bool kHasChannels = kIsCompiled<Path::kNic> || kIsCompiled<Path::kProxy>;

}  // namespace chime::detail

#endif  // CHIME_DEVICE_PATH_PATHS_CUH_
