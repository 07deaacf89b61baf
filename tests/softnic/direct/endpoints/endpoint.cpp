#include "endpoint.hpp"

namespace direct {

std::unique_ptr<Endpoint> make_endpoint(const Route& route, const Options& options) {
  return route.devx ? make_devx_endpoint(route, options) : make_verbs_endpoint(route, options);
}

void Endpoint::connect(std::uint32_t peer) {
  check_zero(to_init(), "RESET -> INIT");
  check_zero(to_rtr(peer), "INIT -> RTR");
  check_zero(to_rts(), "RTR -> RTS");
}

Pair::Pair(const Route& route, const Options& left_options, const Options& right_options)
    : left(make_endpoint(route, left_options)), right(make_endpoint(route, right_options)) {
  left->connect(right->qpn());
  right->connect(left->qpn());
}

}  // namespace direct
