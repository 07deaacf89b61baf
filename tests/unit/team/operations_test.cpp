// Which operations need all members of a team, as the host's messages about them suppose.
#include <gmock/gmock.h>

#include <string_view>
#include <vector>

#include "host/errors/operation_name.hpp"
#include "host/report/team_words.hpp"

namespace chime::host {
namespace {

using testing::UnorderedElementsAre;

template <class Is>
std::vector<std::string_view> all_that(Is is) {
  std::vector<std::string_view> names;
  const auto take = [&](Operation operation) {
    if (is(operation)) names.push_back(operation_name(operation));
  };
#define CHIME_TAKE(ENUMERATOR, NAME) take(Operation::ENUMERATOR);
  CHIME_FOR_OPERATIONS(CHIME_TAKE)
#undef CHIME_TAKE
  return names;
}

TEST(Operations, ThatMoveDataAmongMembersAreCollectives) {
  EXPECT_THAT(
      all_that(is_collective),
      UnorderedElementsAre("chime_reduce", "chime_reducescatter", "chime_broadcast",
                           "chime_fcollect", "chime_alltoall", "chime_inscan", "chime_exscan",
                           "chime_collect", "chime_alltoalls", "chimex_alltoallv"));
}

TEST(Operations, ThatNeedAllMembersAreCollectivesAndThoseWithoutData) {
  EXPECT_THAT(all_that([](Operation each) { return is_meeting(each) && !is_collective(each); }),
              UnorderedElementsAre("chime_barrier_all", "chime_sync_all", "chime_barrier",
                                   "chime_team_sync", "chime_team_split"));
  for (const auto name : all_that(is_collective))
    EXPECT_THAT(all_that(is_meeting), testing::Contains(name));
}

}  // namespace
}  // namespace chime::host
