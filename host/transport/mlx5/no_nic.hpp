// The transport of a PE that has no NIC where others may have one: it says why, and is refused.
#pragma once

#include <string>

#include "host/transport/transport.hpp"

namespace chime::host::mlx5 {

class NoNic final : public Transport {
 public:
  explicit NoNic(std::string why);

  Capabilities capabilities() const override;
  std::string describe() const override { return "no NIC: " + why_; }

  OwnCard own_card() const override;
  CardBytes offer(int) override { return {}; }
  Acceptance accept(int, const PeerCard&) override { return {}; }
  void confirm(int, std::span<const std::byte>) override {}
  std::string why_not(int) const override { return "this PE has no NIC: " + why_; }

  void make_view() override {}
  void view(ContextOwner, Context&) const override {}
  std::unique_ptr<Registration> register_memory(std::byte*, std::size_t) override {
    return nullptr;
  }
  void fail(int) override {}
  std::string end_given_up() override { return ""; }
  std::optional<std::string> why_lost(int) const override { return std::nullopt; }
  std::optional<Scarcity> awaited_at(std::uint64_t) const override { return std::nullopt; }

 private:
  const std::string why_;
};

}  // namespace chime::host::mlx5
