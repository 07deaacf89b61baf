// Device code makes requests; the host takes and answers them.
#include "host/transport/channels/opening_desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace chime::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Desk {
  std::array<std::uint64_t, 2> asked = {};  // by kernels, by the host
  std::array<std::array<std::uint64_t, 2>, 2> wanted = {};
  std::array<std::uint32_t, 128> answers = {};
  std::array<abi::OpenedPeer, 2> peers = {};
  OpeningDesk desk{{&asked[0], wanted[0]}, {&asked[1], wanted[1]}, answers, peers};

  void ask(int pe, std::size_t by = 0) {
    wanted[by][static_cast<std::size_t>(pe / 64)] |= std::uint64_t{1} << pe % 64;
    ++asked[by];
  }
};

TEST(OpeningDesk, AWantedPeIsTakenOnce) {
  Desk d;
  EXPECT_THAT(d.desk.take_wanted(), IsEmpty());
  for (const int pe : {0, 63, 64, 127}) d.ask(pe);
  EXPECT_THAT(d.desk.take_wanted(), ElementsAre(0, 63, 64, 127));
  EXPECT_THAT(d.desk.take_wanted(), IsEmpty());
  d.ask(1);
  EXPECT_THAT(d.desk.take_wanted(), ElementsAre(1));
  d.ask(2, 1);
  d.ask(64, 1);  // kernels have requested it, too
  EXPECT_THAT(d.desk.take_wanted(), ElementsAre(2, 64));
}

TEST(OpeningDesk, AnAnswerNamesThePlaceOrRefuses) {
  Desk d;
  d.desk.answer(1, {.nic = {16, 2, 3}, .pe = 100, .flags = 4, .reserved = 0});
  EXPECT_EQ(d.answers[100], abi::answer_word(Path::kNic, 1));
  EXPECT_EQ(d.peers[1].pe, 100);
  EXPECT_EQ(d.peers[1].nic.heap, 16u);
  EXPECT_EQ(d.peers[1].flags, 4u);
  d.desk.refuse(3);
  EXPECT_EQ(d.answers[3], abi::kRefused);
  EXPECT_EQ(d.answers[0], abi::kNotAnswered);
  EXPECT_NE(abi::answer_word(Path::kNic, 0), abi::kNotAnswered);
}

TEST(OpeningDesk, ARefusedPeTakesAnotherPath) {
  Desk d;
  d.desk.send_refused(Path::kProxy, 7, [](int pe) { return pe != 5; });
  for (const int pe : {4, 5}) d.desk.refuse(pe);
  EXPECT_EQ(abi::path_of_answer(d.answers[4]), Path::kProxy);
  EXPECT_EQ(abi::place_of_answer(d.answers[4]), 7u);
  EXPECT_EQ(d.answers[5], abi::kRefused);
}

TEST(OpeningDesk, FindsThePeOfAnAnswerByItsAddress) {
  Desk d;
  const auto start = reinterpret_cast<std::uint64_t>(d.answers.data());
  EXPECT_EQ(d.desk.answered_at(start + 4 * 5), 5);
  EXPECT_EQ(d.desk.answered_at(start + 4 * 128), std::nullopt);
  EXPECT_EQ(d.desk.answered_at(start - 4), std::nullopt);
}

}  // namespace
}  // namespace chime::host
