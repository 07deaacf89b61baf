// Cards that peers leave with the launcher are found one by one, late ones too, and each question
// ends.
#include "host/peers/launcher_cards.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <thread>

#include "bootstrap/hub/tcp.hpp"
#include "fabric_double.hpp"
#include "host/peers/left_cards.hpp"
#include "net/mesh/fields.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Path kWay = Path::kProxy;

// PE 0 and PE 1 of two, each a thread.
void run(const std::function<void(bootstrap::Bootstrap&)>& zero,
         const std::function<void(bootstrap::Bootstrap&)>& one) {
  const auto id = bootstrap::create_unique_id("lo");
  const auto be = [&](int rank, const auto& body) {
    const auto job = bootstrap::join_unique_id(id, rank, 2, {.timeout = 20s});
    body(*job);
  };
  std::thread other([&] { be(1, one); });
  be(0, zero);
  other.join();
}

CardBytes wrapped(const std::string& card) {
  return net::Writer().put(kAbiVersion).bytes(FabricDouble::text(card)).take();
}

CardFinder::Found await_one(LauncherCards& cards) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end) {
    auto found = cards.take();
    if (found.size() == 1) return found[0];
    std::this_thread::sleep_for(1ms);
  }
  return {-1, {}, "in vain"};
}

TEST(LauncherCards, ACardIsFoundWheneverItIsLeft) {
  std::promise<void> is_asked;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherCards cards(job, kWay, 20s);
        cards.look_for(1);
        EXPECT_THAT(cards.take(), IsEmpty());
        is_asked.set_value();
        const CardFinder::Found found = await_one(cards);
        EXPECT_EQ(found.pe, 1);
        EXPECT_EQ(found.why_none, "");
        EXPECT_EQ(FabricDouble::text(found.card), "a card");
        EXPECT_THAT(cards.take(), IsEmpty()) << "once";
      },
      [&](bootstrap::Bootstrap& job) {
        is_asked.get_future().wait();
        job.publish(key_of_cards(kWay), wrapped("a card"));
      });
}

TEST(LauncherCards, WhoIsLateIsGivenUpInTimeAndForGood) {
  std::promise<void> is_given_up, is_left;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherCards cards(job, kWay, 1s);
        cards.look_for(1);
        const CardFinder::Found found = await_one(cards);
        EXPECT_EQ(found.pe, 1);
        EXPECT_THAT(found.why_none, HasSubstr("within 1 s"));
        EXPECT_THAT(found.why_none, HasSubstr("CHIME_INIT_TIMEOUT"));
        is_given_up.set_value();
        is_left.get_future().wait();
        std::this_thread::sleep_for(50ms);
        EXPECT_THAT(cards.take(), IsEmpty());
      },
      [&](bootstrap::Bootstrap& job) {
        is_given_up.get_future().wait();
        job.publish(key_of_cards(kWay), wrapped("a card"));
        is_left.set_value();
      });
}

TEST(LauncherCards, WhoLeavesWithoutACardIsToldOf) {
  std::promise<void> is_asked;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherCards cards(job, kWay, 20s);
        cards.look_for(1);
        is_asked.set_value();
        EXPECT_THAT(await_one(cards).why_none, HasSubstr("PE 1"));
      },
      [&](bootstrap::Bootstrap&) { is_asked.get_future().wait(); });
}

TEST(LauncherCards, ACardOfAnotherVersionIsNone) {
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherCards cards(job, kWay, 20s);
        cards.look_for(1);
        EXPECT_THAT(await_one(cards).why_none, HasSubstr("PE 1 runs another version of Chime"));
      },
      [&](bootstrap::Bootstrap& job) {
        job.publish(key_of_cards(kWay), net::Writer().put(kAbiVersion + 1).take());
      });
}

TEST(LauncherCards, WhatNobodyWaitsForAnyMoreIsForgotten) {
  std::promise<void> is_over;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherCards(job, kWay, 20s).look_for(1);
        is_over.set_value();
      },
      [&](bootstrap::Bootstrap& job) {
        is_over.get_future().wait();
        job.publish(key_of_cards(kWay), wrapped("a card"));
      });
}

}  // namespace
}  // namespace chime::host
