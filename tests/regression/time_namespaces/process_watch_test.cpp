// PEs in separate time namespaces, of which a user saw "has ended": the kernel adds the reader's
// namespace to the start times that it shows. A process whose number was reused is still
// distinguished.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bootstrap/peer_watch.hpp"
#include "bootstrap/process_stat.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;

// PE 0 of a job whose launcher reports nothing.
class SilentLauncher final : public Bootstrap {
 public:
  ~SilentLauncher() override { answer_those_still_open(); }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string job_id() const override { return "silent"; }
  Bytes job_secret() const override { return Bytes(32); }
  void publish(std::string_view, std::span<const std::byte>) override {}
  void abort(int, std::string_view) noexcept override {}
  void on_peer_lost(std::function<void(int, std::string)>) override {}
  std::string why_lost(int) const override { return ""; }
  std::string describe() const override { return "silent"; }

 private:
  NodeInfo find_node() const override { return node_of(0, {0, 1}); }
  void look_for(OpenQuestions::Id, int, std::string_view, bool) const override {}
  std::string why_open(OpenQuestions::Id) const override { return "nobody answers"; }
};

// A process that waits to be killed, in a separate time namespace if `moved_by` is not 0 seconds.
class Sleeper {
 public:
  explicit Sleeper(int moved_by) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return;
    parent_ = fork();
    if (parent_ == 0) _exit(run(moved_by, pipe_ends[1]));
    close(pipe_ends[1]);
    ProcessEndpointInfo endpoint_info;
    if (read(pipe_ends[0], &endpoint_info, sizeof endpoint_info) == sizeof endpoint_info)
      endpoint_info_ = endpoint_info;
    close(pipe_ends[0]);
  }
  ~Sleeper() {
    if (endpoint_info_) kill(static_cast<pid_t>(endpoint_info_->pid), SIGKILL);
    waitpid(parent_, nullptr, 0);
  }
  // Its own endpoint info; empty if it could not be started.
  const std::optional<ProcessEndpointInfo>& endpoint_info() const { return endpoint_info_; }

 private:
  // Only children enter the namespace.
  static int run(int moved_by, int out) {
    if (moved_by != 0 && !moves_children_by(moved_by)) return 1;
    const pid_t child = fork();
    if (child == 0) {
      const ProcessEndpointInfo endpoint_info = endpoint_info_of_this_process();
      if (write(out, &endpoint_info, sizeof endpoint_info) != sizeof endpoint_info) _exit(1);
      close(out);
      alarm(60);
      for (;;) pause();
    }
    close(out);
    waitpid(child, nullptr, 0);
    return 0;
  }
  static bool moves_children_by(int seconds) {
    if (unshare(CLONE_NEWTIME) != 0) return false;
    std::FILE* const offsets = std::fopen("/proc/self/timens_offsets", "w");
    if (offsets == nullptr) return false;
    // Not a multiple of a clock tick.
    std::fprintf(offsets, "boottime %d 123456789\n", seconds);
    return std::fclose(offsets) == 0;
  }

  pid_t parent_ = -1;
  std::optional<ProcessEndpointInfo> endpoint_info_;
};

// The report of the process watch, within `patience`, on a local peer with this endpoint info.
std::optional<std::string> told_of(const ProcessEndpointInfo& endpoint_info,
                                   std::chrono::milliseconds patience) {
  SilentLauncher launcher;
  std::promise<std::string> told;
  auto how = told.get_future();
  const PeerWatch watch(launcher, {{.pe = 1, .endpoint_info = endpoint_info}},
                        [&](int, std::string words) { told.set_value(std::move(words)); });
  if (how.wait_for(patience) != std::future_status::ready) return std::nullopt;
  return how.get();
}

constexpr auto kShort = 1500ms;  // longer than the watch waits for a goodbye
constexpr auto kLong = 15s;

class ProcessWatch : public ::testing::TestWithParam<int> {};

TEST_P(ProcessWatch, TakesALivingLocalPeerForAlive) {
  const Sleeper local_peer(GetParam());
  if (!local_peer.endpoint_info())
    GTEST_SKIP() << "no time namespace can be made here (root, Linux 5.6)";
  EXPECT_EQ(told_of(*local_peer.endpoint_info(), kShort), std::nullopt);
}

// The number's process is a stranger that started a second after, or before, the PE.
TEST_P(ProcessWatch, TellsALocalPeerFromTheProcessThatHasItsNumberNow) {
  const Sleeper stranger(GetParam());
  if (!stranger.endpoint_info())
    GTEST_SKIP() << "no time namespace can be made here (root, Linux 5.6)";
  const auto second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  ProcessEndpointInfo local_peer = *stranger.endpoint_info();
  local_peer.start_time -= second;
  EXPECT_NE(told_of(local_peer, kLong).value_or("").find("has ended"), std::string::npos);
  local_peer.start_time += 2 * second;
  EXPECT_NE(told_of(local_peer, kLong).value_or("").find("has ended"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(InTimeNamespaces, ProcessWatch, ::testing::Values(0, 1000, 100000),
                         [](const auto& seconds) {
                           return seconds.param == 0 ? std::string("TheReaders")
                                                     : "MovedBy" + std::to_string(seconds.param);
                         });

TEST(ProcessStat, HasTheOffsetOfTheTimeSinceBoot) {
  EXPECT_EQ(boot_offset_ns("monotonic           5         6\nboottime         1000         7\n"),
            1'000'000'000'007);
  EXPECT_EQ(boot_offset_ns("monotonic 1 0\nboottime -3 500000000\n"), -2'500'000'000);
  EXPECT_EQ(boot_offset_ns(""), 0);
}

TEST(ProcessStat, AnUnknownStartTimeMayBeAnyProcesss) {
  EXPECT_TRUE(may_be_one_start(0, 12345));
  EXPECT_TRUE(may_be_one_start(12345, 0));
  EXPECT_TRUE(may_be_one_start(12345, 12346));
  EXPECT_FALSE(may_be_one_start(12345, 12347));
  EXPECT_FALSE(may_be_one_start(12347, 12345));
}

}  // namespace
}  // namespace chime::bootstrap
