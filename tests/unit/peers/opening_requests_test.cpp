// Device code makes requests; the host takes and answers them.
#include "host/transport/channels/opening_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace chime::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Requests {
  std::array<std::uint64_t, 2> asked = {};  // by kernels, by the host
  std::array<std::array<std::uint64_t, 2>, 2> wanted = {};
  std::array<std::uint32_t, 128> answers = {};
  std::array<abi::OpenedPeer, 2> peers = {};
  OpeningRequests all{{&asked[0], wanted[0]}, {&asked[1], wanted[1]}, answers, peers};

  void ask(int pe, std::size_t by = 0) {
    wanted[by][static_cast<std::size_t>(pe / 64)] |= std::uint64_t{1} << pe % 64;
    ++asked[by];
  }
};

TEST(OpeningRequests, AWantedPeIsTakenOnce) {
  Requests r;
  EXPECT_THAT(r.all.take_wanted(), IsEmpty());
  for (const int pe : {0, 63, 64, 127}) r.ask(pe);
  EXPECT_THAT(r.all.take_wanted(), ElementsAre(0, 63, 64, 127));
  EXPECT_THAT(r.all.take_wanted(), IsEmpty());
  r.ask(1);
  EXPECT_THAT(r.all.take_wanted(), ElementsAre(1));
  r.ask(2, 1);
  r.ask(64, 1);  // kernels have requested it, too
  EXPECT_THAT(r.all.take_wanted(), ElementsAre(2, 64));
}

TEST(OpeningRequests, AnAnswerNamesThePlaceOrRefuses) {
  Requests r;
  r.all.answer(1, {.nic = {16, 2, 3}, .pe = 100, .flags = 4, .reserved = 0});
  EXPECT_EQ(r.answers[100], abi::answer_word(Path::kNic, 1));
  EXPECT_EQ(r.peers[1].pe, 100);
  EXPECT_EQ(r.peers[1].nic.heap, 16u);
  EXPECT_EQ(r.peers[1].flags, 4u);
  r.all.refuse(3);
  EXPECT_EQ(r.answers[3], abi::kRefused);
  EXPECT_EQ(r.answers[0], abi::kNotAnswered);
  EXPECT_NE(abi::answer_word(Path::kNic, 0), abi::kNotAnswered);
}

TEST(OpeningRequests, ARefusedPeTakesAnotherPath) {
  Requests r;
  r.all.send_refused(Path::kProxy, 7, [](int pe) { return pe != 5; });
  for (const int pe : {4, 5}) r.all.refuse(pe);
  EXPECT_EQ(abi::path_of_answer(r.answers[4]), Path::kProxy);
  EXPECT_EQ(abi::place_of_answer(r.answers[4]), 7u);
  EXPECT_EQ(r.answers[5], abi::kRefused);
}

TEST(OpeningRequests, FindsThePeOfAnAnswerByItsAddress) {
  Requests r;
  const auto start = reinterpret_cast<std::uint64_t>(r.answers.data());
  EXPECT_EQ(r.all.answered_at(start + 4 * 5), 5);
  EXPECT_EQ(r.all.answered_at(start + 4 * 128), std::nullopt);
  EXPECT_EQ(r.all.answered_at(start - 4), std::nullopt);
}

}  // namespace
}  // namespace chime::host
