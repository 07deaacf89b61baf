// The hub failed what waited for a lost PE and told of the loss after that. A PE that could not
// start did not know yet that another was lost, took the failure for its own, and ended the job
// before the rest could say what they knew (faults.dead_pe.chime-run.init, once in some hundred
// runs).

#include <gtest/gtest.h>

#include <utility>

#include "bootstrap/hub_session.hpp"

namespace chime::bootstrap {
namespace {

// A request of the kinds that carry nothing but their id.
void ask(HubSession& session, int pe, Message kind) {
  const auto message = MessageWriter(kind).put<std::uint32_t>(1).take();
  MessageReader request(message);
  session.handle(pe, request);
}

TEST(LossToldBeforeFailures, InEveryWait) {
  for (const Message kind : {Message::kNodePeers, Message::kBarrier}) {
    std::vector<Message> heard;  // by PE 0
    HubSession session(2, [&](int pe, Bytes message) {
      if (pe == 0) heard.push_back(MessageReader(message).type());
    });
    session.join(0, "node");
    if (kind == Message::kBarrier) session.join(1, "node");
    ask(session, 0, kind);
    session.lose(1, "killed");
    EXPECT_EQ(heard, (std::vector{Message::kLost, Message::kFailed}));
  }
}

}  // namespace
}  // namespace chime::bootstrap
