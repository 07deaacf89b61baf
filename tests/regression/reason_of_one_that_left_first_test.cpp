// A PE whose set-up failed before another had joined left with its reason, and the other heard only
// that it had given up (compat.modules.one_wrong_device, on a busy machine).

#include <gtest/gtest.h>

#include <utility>

#include "bootstrap/hub/hub_session.hpp"

namespace chime::bootstrap {
namespace {

struct Heard {
  std::int32_t code;
  std::string why;
};

// What PE 0, which joins when PE 1 has left, hears to its question for the node's PEs.
// `publish(session)` is what PE 1 does first.
template <class Publish>
Heard heard_after(Publish publish) {
  Heard heard{};
  HubSession session(2, [&](int pe, Bytes message) {
    if (pe != 0) return;
    MessageReader failed(message);
    ASSERT_EQ(failed.type(), Message::kFailed);
    failed.get<std::uint32_t>();
    heard.code = failed.get<std::int32_t>();
    heard.why = failed.text();
  });
  const auto handle = [&](int pe, const Bytes& message) {
    MessageReader request(message);
    session.handle(pe, request);
  };
  session.join(1, "node");
  publish([&](const Bytes& value) {
    handle(1, MessageWriter(Message::kPublish)
                  .put<std::uint32_t>(1)
                  .text(kSetupFailureKey)
                  .bytes(value)
                  .take());
  });
  session.leave(1);
  session.join(0, "node");
  handle(0, MessageWriter(Message::kNodePeers).put<std::uint32_t>(1).take());
  return heard;
}

TEST(ReasonOfOneThatLeftFirst, IsHeardByThoseThatJoinLater) {
  const Heard heard = heard_after([](const auto& publish) {
    publish(written({CHIMEX_ERR_INVALID, "PE 1 could not set up: no device 7"}));
  });
  EXPECT_EQ(heard.code, CHIMEX_ERR_INVALID);
  EXPECT_EQ(heard.why, "PE 1 could not set up: no device 7");
}

TEST(ReasonOfOneThatLeftFirst, IsThatItGaveUpWhereNoneCanBeRead) {
  const Bytes of_another_version = {std::byte{1}};
  for (const auto& heard : {heard_after([](const auto&) {}), heard_after([&](const auto& publish) {
                              publish(of_another_version);
                            })}) {
    EXPECT_EQ(heard.code, CHIMEX_ERR_SYSTEM);
    EXPECT_EQ(heard.why, "PE 1 gave up before all PEs had joined; initialise again");
  }
}

}  // namespace
}  // namespace chime::bootstrap
