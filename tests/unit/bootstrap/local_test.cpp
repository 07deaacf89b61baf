// chime-run's hub: connections of other jobs.
#include "bootstrap/local.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;

// The environment that chime-run would leave for its PE 0.
void set_environment(const LaunchedJob& job) {
  for (const std::string& variable : job.environment_of(0)) {
    const auto equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

// The same, with another token.
void set_environment_of_a_stranger(const LaunchedJob& job) {
  set_environment(job);
  std::string token = std::getenv("CHIME_RUN_TOKEN");
  token[0] = token[0] == '0' ? '1' : '0';
  setenv("CHIME_RUN_TOKEN", token.c_str(), 1);
}

TEST(LaunchedJob, AStrangerIsRefusedAndReportedOnce) {
  std::mutex mutex;
  std::vector<std::string> told;
  LaunchedJob job({.n_pes = 1,
                   .aborted = [](int, int, const std::string&) {},
                   .log =
                       [&](const std::string& line) {
                         const std::lock_guard lock(mutex);
                         told.push_back(line);
                       }});
  set_environment_of_a_stranger(job);
  const auto is_told = [&] {
    const std::lock_guard lock(mutex);
    return !told.empty();
  };
  for (auto timeout = 300ms; timeout < 60s && !is_told(); timeout *= 2)
    EXPECT_THROW(join_local_job({.timeout = timeout}), BootstrapError);
  EXPECT_THROW(join_local_job({.timeout = 300ms}), BootstrapError);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("refused a connection"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("wrong token"), std::string::npos) << told[0];
}

std::string message_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const BootstrapError& error) {
    return error.what();
  }
  return "";
}

TEST(LaunchedJob, OverTcpIsJoinedByTheAddressesInTheEnvironment) {
  const LaunchedJob job({.n_pes = 1, .interface = "lo", .aborted = {}, .log = {}});
  set_environment(job);
  EXPECT_THAT(std::getenv("CHIME_RUN_ADDRESS"), testing::StartsWith("tcp:127.0.0.1:"));
  EXPECT_EQ(join_local_job({})->size(), 1);
}

TEST(LaunchedJob, AnInterfaceThatIsNotThereIsNamed) {
  EXPECT_THAT(
      message_of([] { LaunchedJob({.n_pes = 1, .interface = "no0", .aborted = {}, .log = {}}); }),
      testing::AllOf(testing::HasSubstr("CHIME_BOOTSTRAP_IF=no0"), testing::HasSubstr("lo")));
}

TEST(LaunchedJob, WordsThatAreNoAddressesAreNamed) {
  const LaunchedJob job({.n_pes = 1, .aborted = {}, .log = {}});
  set_environment(job);
  for (const char* words : {"tcp:", "tcp:10.0.0.1", "tcp:10.0.0.1:x", "tcp:host:1", "tcp:[::1:2"}) {
    setenv("CHIME_RUN_ADDRESS", words, 1);
    EXPECT_THAT(message_of([] { join_local_job({.timeout = 300ms}); }),
                testing::HasSubstr("CHIME_RUN_ADDRESS"))
        << words;
  }
}

}  // namespace
}  // namespace chime::bootstrap
