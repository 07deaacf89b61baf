#include "commands.hpp"

#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cstring>

#include "prm.hpp"
#include "softnic/attach/identity.hpp"
#include "softnic/kernel/qp_states.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/observe/trace.hpp"
#include "softnic/wire/path.hpp"

namespace softnic {
namespace {

using namespace prm;

constexpr std::uint32_t kMaxLogCqSize = 22;
constexpr std::uint32_t kSyndromeBase = 0x50f70000;  // ours: firmware syndromes are opaque numbers

void fail(CommandResult& result, Status status, std::uint32_t detail) {
  command::kStatus.set(result.out.data(), status);
  command::kSyndrome.set(result.out.data(), kSyndromeBase | detail);
}

// Address of `bytes` at `offset` of a umem, or null.
std::byte* in_umem(Device& device, std::uint32_t id, std::uint64_t offset, std::uint64_t bytes) {
  const Umem* umem = device.umem(id);
  if (!umem || offset > umem->bytes || bytes > umem->bytes - offset) return nullptr;
  return umem->base + offset;
}

// Whether a queue may begin there. The device has 6 bits for its position in a page: in 64ths.
bool may_begin_at(Device& device, std::uint32_t id, std::uint64_t offset) {
  const Umem* umem = device.umem(id);
  return !umem || offset % (umem->page / 64) == 0;  // a missing umem is reported elsewhere
}

std::uint32_t* records_at(Device& device, std::uint32_t umem, std::uint64_t offset) {
  if (offset % sizeof(std::uint64_t) != 0) return nullptr;
  return reinterpret_cast<std::uint32_t*>(in_umem(device, umem, offset, 2 * sizeof(std::uint32_t)));
}

void answer_hca_cap(std::span<const std::byte> in, CommandResult& result) {
  if (result.out.size() < query_hca_cap::kMinOutBytes) return fail(result, kBadOutputLength, 1);
  std::byte* capability = result.out.data() + query_hca_cap::kCapability;
  const std::uint32_t type = command::kOpMod.get(in.data()) >> 1;
  if (type == query_hca_cap::kGeneral) {
    cap::kQpDataInOrder.set(capability, 1);
    cap::kLogMaxQpSz.set(capability, 15);
    cap::kLogMaxQp.set(capability, kQpIndexBits);
    cap::kLogMaxCqSz.set(capability, kMaxLogCqSize);
    cap::kLogMaxCq.set(capability, 20);
    cap::kPortType.set(capability, settings().ethernet ? 1 : 0);
    cap::kNumPorts.set(capability, 1);
    cap::kLogMaxMsg.set(capability, 30);
    cap::kCqeVersion.set(capability, 1);
    cap::kAtomic.set(capability, 1);
    cap::kFixedBufferSize.set(capability, 1);
    cap::kUmrModifyAtomicDisabled.set(capability, 1);
    cap::kLogMaxRmp.set(capability, 16);
    cap::kCqOi.set(capability, 1);
    cap::kUar4k.set(capability, 1);
    cap::kLogBfRegSize.set(capability, 9);
  } else if (type == query_hca_cap::kAtomic) {
    atomic_cap::k8bEndianness.set(capability, 1);
    atomic_cap::kOperations.set(capability, 0xf);
    atomic_cap::kSizeQp.set(capability, 0xc);
    atomic_cap::kSizeDc.set(capability, 0xc);
  }
}

// The kernel sets the umem_valid bits, in both contexts, whatever the program wrote; UCX does not
// write them.
void make_cq(Device& device, const std::byte* in, CommandResult& result) {
  const std::byte* context = in + create_cq::kContext;
  if (cqc::kLogCqSize.get(context) > kMaxLogCqSize) return fail(result, kBadParam, 1);
  if (cqc::kCqeSize.get(context) > 1) return fail(result, kBadParam, 2);
  if (cqc::kEqn.get(context) != identity::kEqn) return fail(result, kBadParam, 3);
  CompletionQueue cq;
  cq.owner = {
      -1, /*is_devx=*/true, 0, 0, {create_cq::kUmemId.get(in), cqc::kDbrUmemId.get(context)}};
  cq.entries = 1u << cqc::kLogCqSize.get(context);
  cq.entry_bytes = cqc::kCqeSize.get(context) ? 128 : 64;
  cq.collapsed = cqc::kCollapsed.get(context);
  cq.overrun_ignored = cqc::kOverrunIgnore.get(context);
  cq.uar_page = cqc::kUarPage.get(context);
  if (!device.has_uar(cq.uar_page)) return fail(result, kBadResource, 4);
  if (!may_begin_at(device, create_cq::kUmemId.get(in), load_be64(in + create_cq::kUmemOffset)))
    return fail(result, kBadParam, 25);
  // The whole ring, also if completions collapse into its first entry.
  cq.ring = in_umem(device, create_cq::kUmemId.get(in), load_be64(in + create_cq::kUmemOffset),
                    std::uint64_t{cq.entries} * cq.entry_bytes);
  cq.records = records_at(device, cqc::kDbrUmemId.get(context), load_be64(context + cqc::kDbrAddr));
  if (!cq.ring || !cq.records) return fail(result, kBadResource, 5);
  if (!device.umem(create_cq::kUmemId.get(in))->is_writable) return fail(result, kBadResource, 23);
  result.created = Created::kCq;
  result.number = device.add_cq(cq).cqn;
  command::kObjectNumber.set(result.out.data(), result.number);
}

bool transport_of(std::uint32_t service_type, Transport& transport) {
  switch (service_type) {
    case kRc:
      transport = Transport::kRc;
      return true;
    case kUc:
      transport = Transport::kUc;
      return true;
    case kUd:
      transport = Transport::kUd;
      return true;
    default:
      return false;  // dynamically connected ones and raw packets are not emulated
  }
}

// The position of the rings: the receive queue, then the send queue.
bool place_rings(Device& device, const std::byte* in, QueuePair& qp) {
  const std::byte* context = in + create_qp::kContext;
  const std::uint64_t rq_bytes = std::uint64_t{qp.receive_entries} << qp.receive_shift;
  qp.receive_ring =
      in_umem(device, create_qp::kUmemId.get(in), load_be64(in + create_qp::kUmemOffset),
              rq_bytes + std::uint64_t{qp.send_blocks} * kBlock);
  if (!qp.receive_ring) return false;
  qp.send_ring = qp.receive_ring + rq_bytes;
  qp.records = records_at(device, qpc::kDbrUmemId.get(context), load_be64(context + qpc::kDbrAddr));
  return qp.records != nullptr;
}

bool are_queues_there(Device& device, const QueuePair& qp, std::uint32_t rq_type) {
  const bool receives = rq_type == kRqRegular || rq_type == kRqSrq;
  return (qp.send_blocks == 0 || device.cq(qp.send_cqn)) &&
         (!receives || device.cq(qp.receive_cqn)) && (rq_type != kRqSrq || device.srq(qp.srqn));
}

void make_qp(Device& device, const std::byte* in, CommandResult& result) {
  const std::byte* context = in + create_qp::kContext;
  QueuePair qp;
  if (!transport_of(qpc::kServiceType.get(context), qp.transport))
    return fail(result, kBadParam, 6);
  qp.owner = {
      -1, /*is_devx=*/true, 0, 0, {create_qp::kUmemId.get(in), qpc::kDbrUmemId.get(context)}};
  qp.pd = qpc::kPd.get(context);
  qp.uar_page = qpc::kUarPage.get(context);
  qp.user_index = qpc::kUserIndex.get(context);
  qp.send_cqn = qpc::kCqnSnd.get(context);
  qp.receive_cqn = qpc::kCqnRcv.get(context);
  const std::uint32_t rq_type = qpc::kRqType.get(context);
  if (rq_type == kRqRegular) qp.receive_entries = 1u << qpc::kLogRqSize.get(context);
  if (rq_type == kRqSrq) qp.srqn = qpc::kSrqn.get(context);
  qp.receive_shift = 4 + qpc::kLogRqStride.get(context);
  qp.send_blocks = qpc::kNoSq.get(context) ? 0 : 1u << qpc::kLogSqSize.get(context);
  if (!device.has_pd(qp.pd) || !device.has_uar(qp.uar_page)) return fail(result, kBadResource, 7);
  if (!may_begin_at(device, create_qp::kUmemId.get(in), load_be64(in + create_qp::kUmemOffset)))
    return fail(result, kBadParam, 26);
  if (!place_rings(device, in, qp)) return fail(result, kBadResource, 8);
  if (!are_queues_there(device, qp, rq_type)) return fail(result, kBadResource, 9);
  QueuePair* made = device.add_qp(std::move(qp));
  if (!made) return fail(result, kLimitExceeded, 10);
  result.created = Created::kQp;
  result.number = made->qpn;
  command::kObjectNumber.set(result.out.data(), result.number);
}

// A memory key made of pieces of other keys. UCX gives one to every region, for atomics.
void make_mkey(Device& device, std::span<const std::byte> whole, CommandResult& result) {
  const std::byte* in = whole.data();
  const std::byte* context = in + create_mkey::kContext;
  if (mkc::kAccessModeHigh.get(context) != 0 || mkc::kAccessMode.get(context) != kAccessModeKsm)
    return void(result.not_emulated = true);
  MemoryRegion region;
  region.pd = mkc::kPd.get(context);
  region.iova = load_be64(context + mkc::kStartAddress);
  region.bytes = load_be64(context + mkc::kLength);
  region.log_piece = mkc::kLogEntitySize.get(context);
  region.access = (mkc::kLocalWrite.get(context) ? kLocalWrite : 0u) |
                  (mkc::kRemoteWrite.get(context) ? kRemoteWrite : 0u) |
                  (mkc::kRemoteRead.get(context) ? kRemoteRead : 0u) |
                  (mkc::kAtomic.get(context) ? kRemoteAtomic : 0u);
  if (!device.has_pd(region.pd)) return fail(result, kBadResource, 18);
  const std::size_t entries = create_mkey::kEntries.get(in);
  if (entries == 0 || entries > whole.size() / create_mkey::kEntryBytes ||
      create_mkey::kList + entries * create_mkey::kEntryBytes > whole.size())
    return fail(result, kBadParam, 19);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::byte* entry = whole.data() + create_mkey::kList + i * create_mkey::kEntryBytes;
    region.pieces.push_back(
        {create_mkey::kEntryKey.get(entry), load_be64(entry + create_mkey::kEntryAddress)});
  }
  region.variant = static_cast<std::uint8_t>(mkc::kVariant.get(context));
  const MemoryRegion* made = device.add_region(std::move(region));
  if (!made) return fail(result, kBadResource, 24);
  result.created = Created::kRegion;
  result.number = made->key;
  command::kObjectNumber.set(result.out.data(), result.number >> 8);
}

void make_rmp(Device& device, const std::byte* in, CommandResult& result) {
  const std::byte* queue = in + create_rmp::kWorkQueue;
  const std::uint32_t type = wq::kType.get(queue);
  if (type > 1) return fail(result, kBadParam, 20);  // striding queues
  SharedReceiveQueue srq;
  srq.owner = {-1, /*is_devx=*/true, 0, 0, {wq::kUmemId.get(queue), wq::kDbrUmemId.get(queue)}, {}};
  srq.is_ring = type == 1;
  srq.pd = wq::kPd.get(queue);
  srq.entries = 1u << wq::kLogSize.get(queue);
  srq.stride = 1u << wq::kLogStride.get(queue);
  srq.ring = in_umem(device, wq::kUmemId.get(queue), 0, std::uint64_t{srq.entries} * srq.stride);
  srq.record = records_at(device, wq::kDbrUmemId.get(queue), load_be64(queue + wq::kDbrAddr));
  if (srq.stride < 2 * kSegment) return fail(result, kBadParam, 21);
  if (!device.has_pd(srq.pd) || !srq.ring || !srq.record) return fail(result, kBadResource, 22);
  result.created = Created::kSrq;
  result.number = device.add_srq(srq).srqn;
  command::kObjectNumber.set(result.out.data(), result.number);
}

std::uint32_t access_in(const std::byte* context) {
  return (qpc::kRwe.get(context) ? kRemoteWrite : 0u) |
         (qpc::kRre.get(context) ? kRemoteRead : 0u) |
         (qpc::kRae.get(context) ? kRemoteAtomic : 0u);
}

// The optional attributes of a transition, according to opt_param_mask.
void set_optional(QueuePair& qp, const std::byte* in) {
  const std::byte* context = in + create_qp::kContext;
  const std::uint32_t mask = modify_qp::kOptParamMask.get(in);
  const auto change_access = [&](std::uint32_t bit, std::uint32_t access) {
    if (mask & bit) qp.access = (qp.access & ~access) | (access_in(context) & access);
  };
  change_access(modify_qp::kOptRre, kRemoteRead);
  change_access(modify_qp::kOptRwe, kRemoteWrite);
  change_access(modify_qp::kOptRae, kRemoteAtomic);
  if (mask & modify_qp::kOptQkey) qp.qkey = qpc::kQkey.get(context);
  if (mask & modify_qp::kOptRnrTimeout)
    qp.min_rnr_timer = static_cast<std::uint8_t>(qpc::kMinRnrNak.get(context));
}

void to_init(QueuePair& qp, const std::byte* in, CommandResult& result) {
  const std::byte* context = in + create_qp::kContext;
  if (qpc::kVhcaPort.get(context) > 1 || qpc::kPkeyIndex.get(context) != 0)
    return fail(result, kBadParam, 11);
  qp.access = access_in(context);
  qp.port = static_cast<std::uint8_t>(qpc::kVhcaPort.get(context));
  qp.qkey = qpc::kQkey.get(context);
  qp.state = QpState::kInit;
  SOFTNIC_LOG_AT(2, "softnic: init: qpn %#x by firmware, migration %u, atomic_mode %u\n", qp.qpn,
                 qpc::kPathMigration.get(context), qpc::kAtomicMode.get(context));
}

Path path_in(const std::byte* context) {
  Path path;
  path.lid = static_cast<std::uint16_t>(qpc::kRlid.get(context));
  std::memcpy(path.gid.data(), context + qpc::kRgid, path.gid.size());
  std::memcpy(path.mac.data(), context + qpc::kRmac, path.mac.size());
  return path;
}

// The destination in the form of a verbs program, for the log.
ib_uverbs_qp_dest destination_in(const std::byte* context) {
  ib_uverbs_qp_dest to{};
  to.dlid = static_cast<std::uint16_t>(qpc::kRlid.get(context));
  to.sl = static_cast<std::uint8_t>(settings().ethernet ? qpc::kEthernetPriority.get(context)
                                                        : qpc::kServiceLevel.get(context));
  to.is_global = static_cast<std::uint8_t>(qpc::kGrh.get(context));
  to.sgid_index = static_cast<std::uint8_t>(qpc::kSrcAddrIndex.get(context));
  to.hop_limit = static_cast<std::uint8_t>(qpc::kHopLimit.get(context));
  to.traffic_class = static_cast<std::uint8_t>(qpc::kTrafficClass.get(context));
  to.port_num = static_cast<std::uint8_t>(qpc::kVhcaPort.get(context));
  std::memcpy(to.dgid, context + qpc::kRgid, sizeof to.dgid);
  return to;
}

void to_rtr(QueuePair& qp, const std::byte* in, CommandResult& result) {
  const std::byte* context = in + create_qp::kContext;
  const std::uint32_t mtu = qpc::kMtu.get(context);
  if (qp.transport != Transport::kUd) {
    if (mtu < 1 || mtu > 5) return fail(result, kBadParam, 12);
    if (qpc::kSrcAddrIndex.get(context) >= gids_in_use()) return fail(result, kBadParam, 13);
    qp.path_leads_nowhere = !leads_to_port(path_in(context));
  }
  qp.remote_qpn = qpc::kRemoteQpn.get(context);
  const ib_uverbs_qp_dest to = destination_in(context);
  std::memcpy(qp.destination, &to, sizeof qp.destination);
  SOFTNIC_LOG_AT(2, "softnic: route: qpn %#x by firmware, longest %u, dscp %u, udp_port %#x\n",
                 qp.qpn, qpc::kLogMessageMax.get(context), qpc::kDscp.get(context),
                 qpc::kUdpSourcePort.get(context));
  qp.path_mtu = static_cast<std::uint8_t>(mtu);
  qp.min_rnr_timer = static_cast<std::uint8_t>(qpc::kMinRnrNak.get(context));
  qp.max_dest_reads = static_cast<std::uint8_t>(1u << qpc::kLogRraMax.get(context));
  qp.rq_psn = qpc::kNextReceivePsn.get(context);
  set_optional(qp, in);
  qp.state = QpState::kRtr;
}

void to_rts(QueuePair& qp, const std::byte* in) {
  const std::byte* context = in + create_qp::kContext;
  qp.retry_count = static_cast<std::uint8_t>(qpc::kRetryCount.get(context));
  qp.rnr_retry = static_cast<std::uint8_t>(qpc::kRnrRetry.get(context));
  qp.timeout = static_cast<std::uint8_t>(qpc::kAckTimeout.get(context));
  qp.max_reads = static_cast<std::uint8_t>(1u << qpc::kLogSraMax.get(context));
  qp.sq_psn = qpc::kNextSendPsn.get(context);
  set_optional(qp, in);
  qp.state = QpState::kRts;
  log_ready(qp);
}

void modify(Nic& nic, std::uint32_t opcode, const std::byte* in, CommandResult& result) {
  QueuePair* qp = nic.device().qp(command::kObjectNumber.get(in));
  if (!qp) return fail(result, kBadResource, 14);
  const auto is_in = [&](QpState state) {
    if (qp->state == state) return true;
    fail(result, kBadResourceState, 15);
    return false;
  };
  switch (opcode) {
    case kRst2Init:
      if (is_in(QpState::kReset)) to_init(*qp, in, result);
      break;
    case kInit2Init:
      if (is_in(QpState::kInit)) set_optional(*qp, in);
      break;
    case kInit2Rtr:
      if (is_in(QpState::kInit)) to_rtr(*qp, in, result);
      break;
    case kRtr2Rts:
      if (is_in(QpState::kRtr)) to_rts(*qp, in);
      break;
    case kRts2Rts:
      if (is_in(QpState::kRts)) set_optional(*qp, in);
      break;
    case k2Err:
      nic.engine().enter_error(*qp);
      break;
    default:
      nic.engine().reset(*qp);
  }
}

void query_qp(Nic& nic, const std::byte* in, CommandResult& result) {
  const QueuePair* qp = nic.device().qp(command::kObjectNumber.get(in));
  if (!qp) return fail(result, kBadResource, 16);
  if (result.out.size() < create_qp::kContext + qpc::kBytes)
    return fail(result, kBadOutputLength, 17);
  std::byte* context = result.out.data() + create_qp::kContext;
  qpc::kState.set(context, static_cast<std::uint32_t>(qp->state));
  qpc::kServiceType.set(context, qp->transport == Transport::kRc   ? kRc
                                 : qp->transport == Transport::kUc ? kUc
                                                                   : kUd);
  qpc::kPd.set(context, qp->pd);
  qpc::kMtu.set(context, qp->path_mtu);
  qpc::kDataInOrder.set(context, nic.engine().places_in_order(*qp));
  qpc::kUarPage.set(context, qp->uar_page);
  qpc::kUserIndex.set(context, qp->user_index);
  qpc::kRemoteQpn.set(context, qp->remote_qpn);
  qpc::kAckTimeout.set(context, qp->timeout);
  qpc::kRetryCount.set(context, qp->retry_count);
  qpc::kRnrRetry.set(context, qp->rnr_retry);
  qpc::kNextSendPsn.set(context, qp->sq_psn);
  qpc::kCqnSnd.set(context, qp->send_cqn);
  qpc::kRre.set(context, !!(qp->access & kRemoteRead));
  qpc::kRwe.set(context, !!(qp->access & kRemoteWrite));
  qpc::kRae.set(context, !!(qp->access & kRemoteAtomic));
  qpc::kMinRnrNak.set(context, qp->min_rnr_timer);
  qpc::kNextReceivePsn.set(context, qp->rq_psn);
  qpc::kCqnRcv.set(context, qp->receive_cqn);
  qpc::kQkey.set(context, qp->qkey);
}

// The least size of a mailbox of `opcode`. Mailboxes with a context have one size.
std::size_t least_bytes(std::uint32_t opcode) {
  switch (opcode) {
    case kQueryHcaCap:
    case kQueryLag:
    case k2Err:
    case k2Rst:
    case kQueryQp:
      return command::kInBytes;
    default:
      return create_qp::kInBytes;
  }
}

void run(Nic& nic, std::uint32_t opcode, std::span<const std::byte> in, CommandResult& result) {
  Device& device = nic.device();
  switch (opcode) {
    case kQueryHcaCap:
      return answer_hca_cap(in, result);
    case kQueryLag:
      return;  // all zero: no link aggregation
    case kCreateMkey:
      return make_mkey(device, in, result);
    case kCreateRmp:
      return make_rmp(device, in.data(), result);
    case kCreateCq:
      return make_cq(device, in.data(), result);
    case kCreateQp:
      return make_qp(device, in.data(), result);
    case kQueryQp:
      return query_qp(nic, in.data(), result);
    default:
      return modify(nic, opcode, in.data(), result);
  }
}

}  // namespace

CommandClass class_of(std::uint32_t opcode) {
  switch (opcode) {
    case kQueryHcaCap:
    case kQueryLag:
      return CommandClass::kGeneral;
    case kCreateMkey:
    case kCreateRmp:
    case kCreateCq:
    case kCreateQp:
      return CommandClass::kCreate;
    case kRst2Init:
    case kInit2Init:
    case kInit2Rtr:
    case kRtr2Rts:
    case kRts2Rts:
    case k2Err:
    case k2Rst:
      return CommandClass::kModify;
    case kQueryQp:
      return CommandClass::kQuery;
    default:
      return CommandClass::kUnknown;
  }
}

CommandResult execute(Nic& nic, std::span<const std::byte> in, std::size_t out_bytes) {
  CommandResult result;
  result.out.resize(std::max(out_bytes, command::kOutBytes));
  const std::uint32_t opcode = command::kOpcode.get(in.data());
  if (class_of(opcode) == CommandClass::kUnknown)
    fail(result, kBadOp, opcode);
  else if (in.size() < least_bytes(opcode))
    fail(result, kBadInputLength, opcode);
  else
    run(nic, opcode, in, result);
  trace::command(opcode, in, std::to_integer<std::uint32_t>(result.out[0]));
  return result;
}

}  // namespace softnic
