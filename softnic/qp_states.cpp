#include "qp_states.hpp"

namespace softnic {
namespace {

struct Transition {
  QpState from, to;
  std::uint32_t required[3];  // by Transport: RC, UC, UD
  std::uint32_t optional[3];
};

constexpr std::uint32_t kInitConnected = kAttrPkeyIndex | kAttrPort | kAttrAccess;
constexpr std::uint32_t kInitDatagram = kAttrPkeyIndex | kAttrPort | kAttrQkey;
constexpr std::uint32_t kRtrUc = kAttrAv | kAttrPathMtu | kAttrDestQpn | kAttrRqPsn;
constexpr std::uint32_t kRtsRc =
    kAttrTimeout | kAttrRetryCount | kAttrRnrRetry | kAttrSqPsn | kAttrMaxReads;
constexpr std::uint32_t kAnyTimeUc = kAttrCurState | kAttrAltPath | kAttrAccess | kAttrPathMigState;
constexpr std::uint32_t kAnyTimeRc = kAnyTimeUc | kAttrMinRnrTimer;
constexpr std::uint32_t kAnyTimeUd = kAttrCurState | kAttrQkey;

constexpr Transition kTransitions[] = {
    {QpState::kReset, QpState::kInit, {kInitConnected, kInitConnected, kInitDatagram}, {0, 0, 0}},
    {QpState::kInit, QpState::kInit, {0, 0, 0}, {kInitConnected, kInitConnected, kInitDatagram}},
    {QpState::kInit,
     QpState::kRtr,
     {kRtrUc | kAttrMaxDestReads | kAttrMinRnrTimer, kRtrUc, 0},
     {kAttrAltPath | kAttrAccess | kAttrPkeyIndex, kAttrAltPath | kAttrAccess | kAttrPkeyIndex,
      kAttrPkeyIndex | kAttrQkey}},
    {QpState::kRtr,
     QpState::kRts,
     {kRtsRc, kAttrSqPsn, kAttrSqPsn},
     {kAnyTimeRc, kAnyTimeUc, kAnyTimeUd}},
    {QpState::kRts, QpState::kRts, {0, 0, 0}, {kAnyTimeRc, kAnyTimeUc, kAnyTimeUd}},
};

}  // namespace

bool is_transition_allowed(Transport transport, QpState from, QpState to, std::uint32_t mask) {
  const std::uint32_t beside_state = mask & ~std::uint32_t{kAttrState};
  if (to == QpState::kReset) return beside_state == 0;
  if (to == QpState::kError) return beside_state == 0 && from != QpState::kReset;
  for (const Transition& t : kTransitions) {
    if (t.from != from || t.to != to) continue;
    const std::uint32_t required = t.required[static_cast<int>(transport)];
    const std::uint32_t optional = t.optional[static_cast<int>(transport)];
    return (beside_state & required) == required && !(beside_state & ~(required | optional));
  }
  return false;
}

const char* name_of(QpState state) {
  switch (state) {
    case QpState::kReset:
      return "RESET";
    case QpState::kInit:
      return "INIT";
    case QpState::kRtr:
      return "RTR";
    case QpState::kRts:
      return "RTS";
    case QpState::kError:
      return "ERR";
  }
  return "unknown";
}

}  // namespace softnic
