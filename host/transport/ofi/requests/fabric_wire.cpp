#include "host/transport/ofi/requests/fabric_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace chime::host::ofi {

std::uint64_t FabricWire::inject_flag(std::size_t bytes) const {
  return may_inject_ && bytes <= facts_.inject_bytes ? FI_INJECT : 0;
}

// Small enough to be a sign of life on a slow network.
std::size_t FabricWire::piece_of(std::size_t bytes) const {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  return std::min({bytes, facts_.most_bytes, kMostBytes});
}

// A put has ended when its data is in the peer's memory: FI_DELIVERY_COMPLETE.
long FabricWire::post(const PeerName& peer, Request& request) {
  const HostRequest& wanted = request.wanted;
  iovec here{wanted.here + request.moved, request.piece};
  const bool is_slot = request.internal_request != nullptr;
  fi_rma_iov there{(is_slot ? peer.pool : peer.heap) + wanted.at + request.moved, request.piece,
                   is_slot ? peer.pool_key : peer.key};
  const std::uint64_t inject = request.is_put() ? inject_flag(request.piece) : 0;
  void* key = inject != 0 ? nullptr
                          : memory_.local_key(&request, wanted.here + request.moved, request.piece);
  fi_msg_rma message{};
  message.msg_iov = &here;
  message.desc = &key;
  message.iov_count = 1;
  message.addr = peer.address;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = &request.context;
  const long result = request.is_put() ? fi_writemsg(endpoint_.sender(), &message,
                                                     FI_COMPLETION | FI_DELIVERY_COMPLETE | inject)
                                       : fi_readmsg(endpoint_.sender(), &message, FI_COMPLETION);
  if (result != 0) memory_.give_back(&request);
  return result;
}

long FabricWire::post(const PeerName& peer, MessageBatch& batch) {
  const std::span<std::byte> bytes = batch.bytes_for(peer.pass);
  const std::uint64_t inject = inject_flag(bytes.size());
  iovec here{bytes.data(), bytes.size()};
  void* key = inject != 0 ? nullptr : memory_.local_key(&batch, bytes.data(), bytes.size());
  fi_msg message{};
  message.msg_iov = &here;
  message.desc = &key;
  message.iov_count = 1;
  message.addr = peer.address;
  message.context = &batch.context;
  const long result = fi_sendmsg(endpoint_.sender(), &message, FI_COMPLETION | inject);
  if (result != 0) memory_.give_back(&batch);
  return result;
}

long FabricWire::post(Arrival& arrival) {
  return fi_recv(endpoint_.sender(), arrival.data(), Arrival::kBytes,
                 memory_.local_key(&arrival, arrival.data(), Arrival::kBytes), FI_ADDR_UNSPEC,
                 &arrival.context);
}

long FabricWire::read(std::span<Completion> completions) {
  constexpr std::size_t kBatch = 32;
  std::array<fi_cq_msg_entry, kBatch> entries;
  const long count =
      fi_cq_read(endpoint_.completions(), entries.data(), std::min(kBatch, completions.size()));
  for (long i = 0; i < count; ++i) {
    const fi_cq_msg_entry& entry = entries[static_cast<std::size_t>(i)];
    Posted& what = Posted::of(entry.op_context);
    if (what.kind != Posted::Kind::kReceive) memory_.give_back(&what);
    completions[static_cast<std::size_t>(i)] = {&what, entry.len};
  }
  return count;
}

Wire::Failure FabricWire::take_failure() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(endpoint_.completions(), &entry, 0) != 1) return {nullptr, false, ""};
  std::array<char, 256> text{};
  fi_cq_strerror(endpoint_.completions(), entry.prov_errno, entry.err_data, text.data(),
                 text.size());
  const std::string words = words_of(entry.err);
  Posted* const what = entry.op_context ? &Posted::of(entry.op_context) : nullptr;
  if (what && what->kind != Posted::Kind::kReceive) memory_.give_back(what);
  return {
      what, entry.err == FI_ECANCELED,
      words == text.data() || text[0] == '\0' ? words : fmt::format("{} ({})", words, text.data())};
}

}  // namespace chime::host::ofi
