#include "host/transport/mlx5/no_nic.hpp"

#include <utility>

#include "host/transport/mlx5/card.hpp"

namespace chime::host::mlx5 {

NoNic::NoNic(std::string why) : why_(std::move(why)) {}

Capabilities NoNic::capabilities() const {
  return {.path = Path::kNic, .reach = Reach::kJob, .maps = false, .posts = false};
}

OwnCard NoNic::own_card() const {
  Card card;
  card.why_none = why_;
  return {write_card(card)};
}

}  // namespace chime::host::mlx5
