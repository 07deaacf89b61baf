// Endpoint infos that peers publish with the launcher are found one by one, late ones too, and each
// lookup ends.
#include "host/peers/launcher_endpoint_infos.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <thread>

#include "bootstrap/hub/tcp.hpp"
#include "fabric_double.hpp"
#include "host/peers/left_endpoint_infos.hpp"
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

EndpointInfoBytes wrapped(const std::string& endpoint_info) {
  return net::Writer().put(kAbiVersion).bytes(FabricDouble::text(endpoint_info)).take();
}

EndpointInfoFinder::Found await_one(LauncherEndpointInfos& endpoint_infos) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end) {
    auto found = endpoint_infos.take();
    if (found.size() == 1) return found[0];
    std::this_thread::sleep_for(1ms);
  }
  return {-1, {}, "in vain"};
}

TEST(LauncherEndpointInfos, AEndpointInfoIsFoundWheneverItIsLeft) {
  std::promise<void> is_asked;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherEndpointInfos endpoint_infos(job, kWay, 20s);
        endpoint_infos.look_for(1);
        EXPECT_THAT(endpoint_infos.take(), IsEmpty());
        is_asked.set_value();
        const EndpointInfoFinder::Found found = await_one(endpoint_infos);
        EXPECT_EQ(found.pe, 1);
        EXPECT_EQ(found.why_none, "");
        EXPECT_EQ(FabricDouble::text(found.endpoint_info), "an endpoint info");
        EXPECT_THAT(endpoint_infos.take(), IsEmpty()) << "once";
      },
      [&](bootstrap::Bootstrap& job) {
        is_asked.get_future().wait();
        job.publish(key_of_endpoint_infos(kWay), wrapped("an endpoint info"));
      });
}

TEST(LauncherEndpointInfos, ALatePeIsGivenUpInTimeAndForGood) {
  std::promise<void> is_given_up, is_left;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherEndpointInfos endpoint_infos(job, kWay, 1s);
        endpoint_infos.look_for(1);
        const EndpointInfoFinder::Found found = await_one(endpoint_infos);
        EXPECT_EQ(found.pe, 1);
        EXPECT_THAT(found.why_none, HasSubstr("within 1 s"));
        EXPECT_THAT(found.why_none, HasSubstr("CHIME_INIT_TIMEOUT"));
        is_given_up.set_value();
        is_left.get_future().wait();
        std::this_thread::sleep_for(50ms);
        EXPECT_THAT(endpoint_infos.take(), IsEmpty());
      },
      [&](bootstrap::Bootstrap& job) {
        is_given_up.get_future().wait();
        job.publish(key_of_endpoint_infos(kWay), wrapped("an endpoint info"));
        is_left.set_value();
      });
}

TEST(LauncherEndpointInfos, APeThatLeavesWithoutOneIsReported) {
  std::promise<void> is_asked;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherEndpointInfos endpoint_infos(job, kWay, 20s);
        endpoint_infos.look_for(1);
        is_asked.set_value();
        EXPECT_THAT(await_one(endpoint_infos).why_none, HasSubstr("PE 1"));
      },
      [&](bootstrap::Bootstrap&) { is_asked.get_future().wait(); });
}

TEST(LauncherEndpointInfos, AEndpointInfoOfAnotherVersionIsNone) {
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherEndpointInfos endpoint_infos(job, kWay, 20s);
        endpoint_infos.look_for(1);
        EXPECT_THAT(await_one(endpoint_infos).why_none,
                    HasSubstr("PE 1 runs another version of Chime"));
      },
      [&](bootstrap::Bootstrap& job) {
        job.publish(key_of_endpoint_infos(kWay), net::Writer().put(kAbiVersion + 1).take());
      });
}

TEST(LauncherEndpointInfos, AnInfoThatNoneAwaitsAnyMoreIsDropped) {
  std::promise<void> is_over;
  run(
      [&](bootstrap::Bootstrap& job) {
        LauncherEndpointInfos(job, kWay, 20s).look_for(1);
        is_over.set_value();
      },
      [&](bootstrap::Bootstrap& job) {
        is_over.get_future().wait();
        job.publish(key_of_endpoint_infos(kWay), wrapped("an endpoint info"));
      });
}

}  // namespace
}  // namespace chime::host
