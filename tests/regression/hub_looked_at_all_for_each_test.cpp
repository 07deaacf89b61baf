// The hub went through all PEs of the job for each request of a node's PEs, when all had joined,
// and for each PE that left. For each request of a key that PE 0 had not published yet, it went
// through all its waiters. At 100 000 PEs each took minutes. Seen in perf/init_sim.
#include <gtest/gtest.h>

#include <ctime>
#include <utility>

#include "bootstrap/hub/hub_session.hpp"

namespace chime::bootstrap {
namespace {

constexpr int kPes = 100'000, kNodePes = 8;
constexpr double kMostSeconds = 20;  // takes a tenth of one

// Processor time: a busy machine changes nothing.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(HubLookedAtAllForEach, NodePeersAndLeavingTakeNoTimeOfTheJobsSizeForEachPe) {
  const double begin = seconds();
  int answers = 0;
  bool is_published = false;
  HubSession session(kPes, [&](int pe, const Bytes& message) {
    MessageReader reply(message);
    ASSERT_EQ(reply.type(), Message::kReply);
    reply.get<std::uint32_t>();
    const auto pes = reply.bytes();
    ++answers;
    if (std::exchange(is_published, false)) return;  // the answer to the publication is empty
    ASSERT_EQ(pes.size(), kNodePes * sizeof(std::int32_t)) << "PE " << pe;
  });
  for (int pe = kPes - 1; pe >= 0; --pe) session.join(pe, "node " + std::to_string(pe / kNodePes));
  const Bytes request = MessageWriter(Message::kNodePeers).put<std::uint32_t>(1).take();
  const auto each = [&](auto what) {
    for (int pe = 0; pe < kPes; ++pe) {
      ASSERT_LT(seconds() - begin, kMostSeconds) << "at PE " << pe;
      what(pe);
    }
  };
  each([&](int pe) {
    MessageReader reader(request);
    session.handle(pe, reader);
  });
  EXPECT_EQ(answers, kPes);
  each([&](int pe) {
    const Bytes lookup = MessageWriter(Message::kLookup)
                             .put<std::uint32_t>(2)
                             .put<std::int32_t>(0)
                             .text("endpoint_info")
                             .put<std::uint8_t>(1)
                             .take();
    MessageReader reader(lookup);
    session.handle(pe, reader);
  });
  EXPECT_EQ(answers, kPes) << "there is no endpoint info yet";
  const Bytes endpoint_info = MessageWriter(Message::kPublish)
                                  .put<std::uint32_t>(3)
                                  .text("endpoint_info")
                                  .bytes(Bytes(kNodePes * sizeof(std::int32_t)))
                                  .take();
  MessageReader reader(endpoint_info);
  is_published = true;
  session.handle(0, reader);
  EXPECT_EQ(answers, 2 * kPes + 1);
  each([&](int pe) { session.leave(pe); });
  EXPECT_TRUE(session.is_over());
}

}  // namespace
}  // namespace chime::bootstrap
