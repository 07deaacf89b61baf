// Which launcher is chosen, and the message if none can be.
#include <gtest/gtest.h>

#include <cstdlib>

#include "bodies.hpp"
#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {
namespace {

// The launcher's variables, hidden; restored afterwards.
class Choose : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", "CHIME_RUN_ADDRESS"}) unsetenv(name);
  }
  static std::string error_of(const std::string& kind) {
    try {
      make_bootstrap({.kind = kind});
    } catch (const BootstrapError& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(Choose, WithoutALauncherTheJobHasOnePe) {
  auto job = make_bootstrap();
  EXPECT_EQ(job->rank(), 0);
  EXPECT_EQ(job->size(), 1);
}

TEST_F(Choose, AnUnknownKindIsNamedWithTheKnownOnes) {
  EXPECT_NE(error_of("mpi").find("CHIME_BOOTSTRAP=mpi"), std::string::npos);
  EXPECT_NE(error_of("mpi").find("auto, pmix, local or none"), std::string::npos);
}

TEST_F(Choose, InsistingOnALauncherThatIsNotThereIsAnError) {
  EXPECT_NE(error_of("pmix"), "");
  EXPECT_NE(error_of("local").find("was not started by chime-run"), std::string::npos);
}

TEST_F(Choose, NoneIgnoresLaunchers) {
  setenv("PMIX_NAMESPACE", "x", 1);
  setenv("PMIX_RANK", "3", 1);
  EXPECT_EQ(make_bootstrap({.kind = "none"})->size(), 1);
  unsetenv("PMIX_NAMESPACE");
  unsetenv("PMIX_RANK");
}

class SingletonBody : public testing::TestWithParam<test::Body> {};
TEST_P(SingletonBody, Holds) {
  GetParam().run([] { return make_bootstrap({.kind = "none"}); });
}
INSTANTIATE_TEST_SUITE_P(Singleton, SingletonBody, testing::ValuesIn(test::bodies()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace chime::bootstrap
