// Every opcode with every possible mistake, on every service, by both routes: how the request ends,
// the one strict report that names the mistake, the other side's result, and that no data was
// moved.

#include <poll.h>

#include "matrix_rows.hpp"

namespace direct::matrix {
namespace {

std::vector<std::string> reports_in(const std::string& text) {
  constexpr std::string_view kStart = "softnic: strict: ";
  std::vector<std::string> names;
  for (std::size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at)) {
    at += kStart.size();
    names.push_back(text.substr(at, text.find(':', at) - at));
  }
  return names;
}

// The events of the process's device since the last call.
std::vector<int> async_events() {
  ibv_context* context = Hca::instance().context();
  std::vector<int> types;
  for (pollfd waiting{context->async_fd, POLLIN, 0}; ::poll(&waiting, 1, 0) != 0;) {
    ibv_async_event event{};
    check_zero(ibv_get_async_event(context, &event), "ibv_get_async_event");
    types.push_back(event.event_type);
    ibv_ack_async_event(&event);
  }
  return types;
}

// The other side of an unreliable request reports nothing and goes on.
Ending ending_of(const Row& row, Service service) {
  if (service == Service::kRc || row.ending.peer != IBV_QPS_ERR) return row.ending;
  return {0, row.ending.reports};
}

using Param = std::tuple<Route, Service, std::size_t>;

class Matrix : public testing::TestWithParam<Param> {
 protected:
  const Route route = std::get<0>(GetParam());
  const Service service = std::get<1>(GetParam());
  const Kind& kind = kKinds[std::get<2>(GetParam())];
  Places places;

  void meet(const Row& row) {
    SCOPED_TRACE(row.name);
    const Ending ending = ending_of(row, service);
    testing::internal::CaptureStderr();
    {
      Scene scene(route, service, kind, places, row.left, row.right);
      try {
        row.act ? row.act(scene) : send(row, ending, scene);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      EXPECT_EQ(scene.right.state(), ending.peer);
      std::vector<int> events;
      if (!route.devx && ending.event != kNoEvent) events.push_back(ending.event);
      EXPECT_EQ(async_events(), events);
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(reports_in(text), ending.reports) << text;
  }

 private:
  void send(const Row& row, const Ending& ending, Scene& s) {
    if (row.draft) row.draft(s);
    const bool has_receive = kind.takes_a_receive() && row.has_receive;
    if (has_receive)
      row.receive ? void(s.right.receives.post(row.receive(places))) : s.post_receive();
    const std::uint16_t index = s.left.sends.post(s.draft.wqe());
    if (row.posted) row.posted(s, s.left.sends.block(index));
    s.left.sends.ring_doorbell();
    const Cqe cqe = s.left.sent.next();
    EXPECT_EQ(cqe.counter(), index);
    EXPECT_EQ(unsigned{cqe.syndrome()}, unsigned{ending.syndrome});
    s.settle();
    const bool arrives = ending.syndrome == 0 && ending.reports.empty() && ending.arrives;
    const bool moves = kind.is_send() || (kind.is_remote() && kind.opcode != kRead);
    EXPECT_EQ(s.has_moved_something(), arrives && moves);
    if (has_receive) look_at_receive(s, ending, arrives);
  }

  static void look_at_receive(Scene& s, const Ending& ending, bool arrives) {
    if (arrives || ending.of_receive != 0 || ending.peer == IBV_QPS_ERR) {
      EXPECT_EQ(unsigned{s.right.received.next().syndrome()}, unsigned{ending.of_receive});
    }
    EXPECT_FALSE(s.right.received.poll().has_value());
  }
};

std::string name_of(const testing::TestParamInfo<Param>& info) {
  constexpr const char* kServices[] = {"rc", "uc", "ud"};
  const auto& [route, service, kind] = info.param;
  return std::string(route.name) + "_" + kServices[static_cast<int>(service)] + "_" +
         kKinds[kind].name;
}
INSTANTIATE_TEST_SUITE_P(Of, Matrix,
                         testing::Combine(testing::Values(kVerbs, kDevx),
                                          testing::Values(Service::kRc, Service::kUc, Service::kUd),
                                          testing::Range<std::size_t>(0, std::size(kKinds))),
                         name_of);

TEST_P(Matrix, EachMistakeHasItsEndAndItsName) {
  places.local.fill(0, 4096, 3);
  if (!kind.is_on(service)) return meet(kOfAnotherService);
  for (const Row& row : rows())
    if (row.fits(kind, service)) meet(row);
}

}  // namespace
}  // namespace direct::matrix
