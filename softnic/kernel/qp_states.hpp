// The life of a queue pair: the allowed transitions, and the attributes that each must and may
// have. Everything else is refused (IBA 10.3.1, verbs documentation of ibv_modify_qp).
#pragma once

#include <cstdint>

#include "softnic/firmware/objects.hpp"

namespace softnic {

// Bits of enum ibv_qp_attr_mask.
enum QpAttribute : std::uint32_t {
  kAttrState = 1 << 0,
  kAttrCurState = 1 << 1,
  kAttrAccess = 1 << 3,
  kAttrPkeyIndex = 1 << 4,
  kAttrPort = 1 << 5,
  kAttrQkey = 1 << 6,
  kAttrAv = 1 << 7,
  kAttrPathMtu = 1 << 8,
  kAttrTimeout = 1 << 9,
  kAttrRetryCount = 1 << 10,
  kAttrRnrRetry = 1 << 11,
  kAttrRqPsn = 1 << 12,
  kAttrMaxReads = 1 << 13,
  kAttrAltPath = 1 << 14,
  kAttrMinRnrTimer = 1 << 15,
  kAttrSqPsn = 1 << 16,
  kAttrMaxDestReads = 1 << 17,
  kAttrPathMigState = 1 << 18,
  kAttrDestQpn = 1 << 20,
};
inline constexpr std::uint32_t kKnownAttributes = (1 << 21) - 1;  // of the kernel's interface

// Whether a queue pair of `transport` may go from `from` to `to` with the attributes in `mask`.
bool is_transition_allowed(Transport transport, QpState from, QpState to, std::uint32_t mask);

const char* name_of(QpState state);

// Logs a queue pair that is ready to send, with all that its program has set, on stderr
// (SOFTNIC_LOG=2): also settings that this NIC does not use.
void log_ready(const QueuePair& qp);

}  // namespace softnic
