// When a PE is brought together with a peer that no mapping leads to: CHIME_CONNECT,
// which is one for NICs and fabrics.
#pragma once

namespace chime::host {

enum class Connect { kAuto, kEager, kLazy };

// Whether peers are connected when they are first touched, or all of them at init. auto: at init in
// jobs that are so small that it takes no time.
inline bool opens_on_demand(Connect connect, int n_pes) {
  constexpr int kFew = 32;
  return connect == Connect::kLazy || (connect == Connect::kAuto && n_pes > kFew);
}

}  // namespace chime::host
