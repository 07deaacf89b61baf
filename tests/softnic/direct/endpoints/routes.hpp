// The routes over which each test body runs, and the fixture: two connected queue pairs and memory
// for both.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "endpoint.hpp"

namespace direct {

inline constexpr Route kVerbs{"verbs", false, false, 64};
inline constexpr Route kVerbs128{"verbs_cqe128", false, false, 128};
inline constexpr Route kDevx{"devx", true, false, 64};
inline constexpr Route kDevx128{"devx_cqe128", true, false, 128};
inline constexpr Route kDevxCollapsed{"devx_collapsed", true, true, 64};

inline std::string name_of_route(const testing::TestParamInfo<Route>& info) {
  return info.param.name;
}
inline void PrintTo(const Route& route, std::ostream* out) { *out << route.name; }

class OverRoutes : public testing::TestWithParam<Route> {
 protected:
  static constexpr std::size_t kBytes = 4 << 20;

  Route route() const { return GetParam(); }
  // Runs one WQE of `sender` to its end and expects success.
  static Cqe complete(Endpoint& sender, const Wqe& wqe) {
    const std::uint16_t index = sender.sends.post_and_ring(wqe);
    const Cqe cqe = sender.sent.retired(index);
    EXPECT_EQ(cqe.opcode(), 0) << "syndrome " << std::hex << unsigned{cqe.syndrome()};
    EXPECT_EQ(cqe.counter(), index);
    return cqe;
  }
};

// Two connected queue pairs, and memory on both sides.
class Connected : public OverRoutes {
 protected:
  explicit Connected(const Options& options = {}) : pair(GetParam(), options) {}

  Pair pair;
  Memory local{kBytes}, remote{kBytes};
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;

  Wqe write(std::size_t remote_at, std::size_t local_at, std::uint32_t bytes) const {
    return Wqe(kWrite)
        .remote(remote.at(remote_at), remote.rkey())
        .data(local.at(local_at), bytes, local.lkey());
  }
  Wqe read(std::size_t remote_at, std::size_t local_at, std::uint32_t bytes) const {
    return Wqe(kRead)
        .remote(remote.at(remote_at), remote.rkey())
        .data(local.at(local_at), bytes, local.lkey());
  }
};

// All kinds of queues; or one kind for each route, where the others add nothing.
#define CHIME_OVER_ALL_ROUTES(SUITE)                                                            \
  INSTANTIATE_TEST_SUITE_P(Route, SUITE,                                                        \
                           testing::Values(kVerbs, kVerbs128, kDevx, kDevx128, kDevxCollapsed), \
                           name_of_route)
#define CHIME_OVER_BOTH_ROUTES(SUITE) \
  INSTANTIATE_TEST_SUITE_P(Route, SUITE, testing::Values(kVerbs, kDevx), name_of_route)

}  // namespace direct
