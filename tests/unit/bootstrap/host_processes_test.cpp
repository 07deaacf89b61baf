// Whether there is a reason to ask a launcher which processes of this host are gone.
#include "bootstrap/hub/host_processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/process_stat.hpp"

namespace chime::bootstrap {
namespace {

constexpr int kPe = 3, kOtherPe = 5;

// A process that lives until the test ends it.
class Process {
 public:
  Process() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~Process() { end(); }

  ProcessEndpointInfo endpoint_info() const {
    ProcessEndpointInfo endpoint_info = endpoint_info_of_this_process();
    endpoint_info.pid = pid_;
    endpoint_info.start_time = stat_of_process(pid_)->start_time;
    return endpoint_info;
  }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

TEST(HostProcesses, WhileAllLiveGiveNoReasonToAsk) {
  HostProcesses processes;
  processes.leave_to_launcher(kPe);
  EXPECT_TRUE(processes.is_left_to_launcher(kPe));
  const Process process;
  processes.know(kPe, process.endpoint_info());
  EXPECT_FALSE(processes.is_left_to_launcher(kPe));
  EXPECT_FALSE(processes.leaves_any_to_launcher());
  EXPECT_FALSE(processes.has_unexplained_end());
  EXPECT_EQ(processes.how_ended(kPe), "");
}

TEST(HostProcesses, AskUntilTheEndOfEachIsExplained) {
  HostProcesses processes;
  Process process, other;
  const ProcessEndpointInfo endpoint_info = process.endpoint_info();
  processes.know(kPe, endpoint_info);
  processes.know(kOtherPe, other.endpoint_info());
  process.end();
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_EQ(processes.how_ended(kPe), "process " + std::to_string(endpoint_info.pid) + " on host " +
                                          endpoint_info.host + " has ended");
  EXPECT_EQ(processes.how_ended(kOtherPe), "");
  processes.note_explained(kPe);
  EXPECT_FALSE(processes.has_unexplained_end());
  EXPECT_NE(processes.how_ended(kPe), "");
  other.end();
  EXPECT_TRUE(processes.has_unexplained_end());
}

TEST(HostProcesses, KnowOneThatHadEndedBefore) {
  HostProcesses processes;
  Process process;
  const ProcessEndpointInfo endpoint_info = process.endpoint_info();
  process.end();
  processes.know(kPe, endpoint_info);
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_NE(processes.how_ended(kPe), "");
}

// Another process has its number now.
TEST(HostProcesses, TakeNoOtherProcessForIt) {
  HostProcesses processes;
  const Process process;
  ProcessEndpointInfo endpoint_info = process.endpoint_info();
  endpoint_info.start_time -= 1000;
  processes.know(kPe, endpoint_info);
  EXPECT_NE(processes.how_ended(kPe), "");
}

TEST(HostProcesses, LeaveThoseOfOtherProcessSpacesToTheLauncher) {
  HostProcesses processes;
  const Process process;
  ProcessEndpointInfo endpoint_info = process.endpoint_info();
  endpoint_info.space[0] ^= 1;
  processes.know(kPe, endpoint_info);
  EXPECT_TRUE(processes.is_left_to_launcher(kPe));
  EXPECT_FALSE(processes.has_unexplained_end());
  processes.note_explained(kPe);
  EXPECT_FALSE(processes.leaves_any_to_launcher());
}

}  // namespace
}  // namespace chime::bootstrap
