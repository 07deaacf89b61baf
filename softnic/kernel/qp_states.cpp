#include "qp_states.hpp"

#include <rdma/ib_user_verbs.h>

#include <cstring>

#include "softnic/observe/log.hpp"

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

void log_ready(const QueuePair& qp) {
  ib_uverbs_qp_dest to;
  static_assert(sizeof to == sizeof qp.destination);
  std::memcpy(&to, qp.destination, sizeof to);
  SOFTNIC_LOG_AT(
      2,
      "softnic: ready: qpn %#x to %#x, access %#x, pkey %u, port %u, mtu %u, timeout %u, "
      "retry %u, rnr_retry %u, min_rnr %u, reads %u, dest_reads %u, sq_psn %#x, rq_psn "
      "%#x, lid %u, sl %u, global %u, gid_index %u, hops %u, class %u, path_port %u, gid "
      "%02x%02x..%02x%02x\n",
      qp.qpn, qp.remote_qpn, qp.access, qp.pkey_index, qp.port, qp.path_mtu, qp.timeout,
      qp.retry_count, qp.rnr_retry, qp.min_rnr_timer, qp.max_reads, qp.max_dest_reads, qp.sq_psn,
      qp.rq_psn, to.dlid, to.sl, to.is_global, to.sgid_index, to.hop_limit, to.traffic_class,
      to.port_num, to.dgid[0], to.dgid[1], to.dgid[14], to.dgid[15]);
}

}  // namespace softnic
