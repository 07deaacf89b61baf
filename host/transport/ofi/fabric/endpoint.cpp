#include "host/transport/ofi/fabric/endpoint.hpp"

#include <fmt/format.h>

namespace chime::host::ofi {
namespace {

constexpr std::size_t kMostAddressBytes = 256;

}  // namespace

Endpoint::Endpoint(const Provider& provider, std::size_t entries)
    : address_format_(provider.info->addr_format) {
  fi_info* const info = provider.info.get();
  const std::string& name = provider.facts.name;
  fabric_ = own<fid_fabric>(name + " cannot be opened", [&](fid_fabric** made) {
    return libfabric().fi_fabric(info->fabric_attr, made, nullptr);
  });
  domain_ = own<fid_domain>(name + "'s domain cannot be opened", [&](fid_domain** made) {
    return fi_domain(fabric_.get(), info, made, nullptr);
  });
  addresses_ = own<fid_av>(name + " has no table of addresses", [&](fid_av** made) {
    fi_av_attr attributes{};
    attributes.type = FI_AV_TABLE;
    return fi_av_open(domain_.get(), &attributes, made, nullptr);
  });
  open_completions(entries);
  endpoint_ = own<fid_ep>(name + "'s endpoint cannot be opened", [&](fid_ep** made) {
    return fi_endpoint(domain_.get(), info, made, nullptr);
  });
  check_fabric(fi_ep_bind(endpoint_.get(), &addresses_->fid, 0), "binding the table of addresses");
  check_fabric(fi_ep_bind(endpoint_.get(), &completions_->fid, FI_TRANSMIT | FI_RECV),
               "binding the completion queue");
  check_fabric(fi_enable(endpoint_.get()), name + "'s endpoint cannot be enabled");
}

// With a descriptor to sleep at where the provider has one.
void Endpoint::open_completions(std::size_t entries) {
  fi_cq_attr attributes{};
  attributes.size = entries;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* made = nullptr;
  if (fi_cq_open(domain_.get(), &attributes, &made, nullptr) == 0) {
    completions_.reset(made);
    if (fi_control(&made->fid, FI_GETWAIT, &descriptor_) != 0) descriptor_ = -1;
    return;
  }
  attributes.wait_obj = FI_WAIT_NONE;
  completions_ = own<fid_cq>("the completion queue cannot be opened", [&](fid_cq** queue) {
    return fi_cq_open(domain_.get(), &attributes, queue, nullptr);
  });
}

std::vector<std::byte> Endpoint::address() const {
  std::vector<std::byte> address(kMostAddressBytes);
  std::size_t bytes = address.size();
  check_fabric(fi_getname(&endpoint_->fid, address.data(), &bytes), "the endpoint has no address");
  address.resize(bytes);
  return address;
}

std::string Endpoint::address_text() const {
  std::string text(kMostAddressBytes, '\0');
  std::size_t bytes = text.size();
  fi_av_straddr(addresses_.get(), address().data(), text.data(), &bytes);
  return text.c_str();
}

fi_addr_t Endpoint::insert(std::span<const std::byte> address) {
  fi_addr_t peer = FI_ADDR_NOTAVAIL;
  const int inserted = fi_av_insert(addresses_.get(), address.data(), 1, &peer, 0, nullptr);
  if (inserted != 1)
    fail_fabric("a peer's address is refused", inserted < 0 ? -inserted : FI_EINVAL);
  return peer;
}

bool Endpoint::may_sleep() const {
  fid* waited_for = &completions_->fid;
  return fi_trywait(fabric_.get(), &waited_for, 1) == FI_SUCCESS;
}

}  // namespace chime::host::ofi
