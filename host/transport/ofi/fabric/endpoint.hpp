// This PE's end of the fabric: it sends, receives, and reports the completions of both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/transport/ofi/fabric/provider.hpp"

namespace chime::host::ofi {

class Endpoint {
 public:
  // `entries`: the most operations that may be in flight at once. Throws Error.
  Endpoint(const Provider& provider, std::size_t entries);

  // Where peers find it, and in words.
  std::vector<std::byte> address() const;
  std::uint32_t address_format() const { return address_format_; }
  std::string address_text() const;

  // A peer by its address. Nothing is sent. Throws Error.
  fi_addr_t insert(std::span<const std::byte> address);

  fid_domain* domain() const { return domain_.get(); }
  fid_ep* sender() const { return endpoint_.get(); }
  fid_cq* completions() const { return completions_.get(); }

  // Becomes readable when there is something to read of completions(). -1: the provider has none.
  int descriptor() const { return descriptor_; }
  // Whether nothing is there to be read yet, so that the descriptor may be waited for.
  bool may_sleep() const;

 private:
  void open_completions(std::size_t entries);

  const std::uint32_t address_format_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> completions_;
  Owned<fid_ep> endpoint_;
  int descriptor_ = -1;
};

}  // namespace chime::host::ofi
