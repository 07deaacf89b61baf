// chime-run's hub: who is not of its job.
#include "bootstrap/local.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;

// What chime-run would have left for its PE 0, with another token.
void set_environment_of_a_stranger(const LocalJob& job) {
  for (std::string variable : job.environment_of(0)) {
    const auto equals = variable.find('=');
    std::string value = variable.substr(equals + 1);
    if (variable.find("TOKEN") < equals) value[0] = value[0] == '0' ? '1' : '0';
    setenv(variable.substr(0, equals).c_str(), value.c_str(), 1);
  }
}

TEST(LocalJob, AStrangerIsRefusedAndToldOfOnce) {
  std::mutex mutex;
  std::vector<std::string> told;
  LocalJob job(
      1, [](int, int, const std::string&) {},
      [&](const std::string& line) {
        const std::lock_guard lock(mutex);
        told.push_back(line);
      });
  set_environment_of_a_stranger(job);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_THROW(join_local_job({.timeout = 300ms}), BootstrapError);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("refused a connection"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("wrong token"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace chime::bootstrap
