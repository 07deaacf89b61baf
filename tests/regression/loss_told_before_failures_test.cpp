// The hub failed the requests that waited for a lost PE, and reported the loss after that. A PE
// that could not start did not know yet that another was lost, took the failure for its own, and
// ended the job before the other PEs could report the loss (faults.dead_pe.chime-run.init, once in
// some hundred runs).

#include <gtest/gtest.h>

#include <utility>

#include "bootstrap/hub/hub_session.hpp"

namespace chime::bootstrap {
namespace {

// A request of PE 0 that waits for PE 1.
void ask(HubSession& session, Message kind) {
  MessageWriter message(kind);
  message.put<std::uint32_t>(1);
  if (kind == Message::kLookup)
    message.put<std::int32_t>(1).text("endpoint_info").put<std::uint8_t>(1);
  const auto bytes = message.take();
  MessageReader request(bytes);
  session.handle(0, request);
}

TEST(LossToldBeforeFailures, InEveryWait) {
  for (const Message kind : {Message::kNodePeers, Message::kLookup}) {
    std::vector<Message> heard;  // messages to PE 0
    HubSession session(2, [&](int pe, Bytes message) {
      if (pe == 0) heard.push_back(MessageReader(message).type());
    });
    session.join(0, "node");
    if (kind == Message::kLookup) session.join(1, "node");
    ask(session, kind);
    session.lose(1, "killed");
    EXPECT_EQ(heard, (std::vector{Message::kLost, Message::kFailed}));
  }
}

}  // namespace
}  // namespace chime::bootstrap
