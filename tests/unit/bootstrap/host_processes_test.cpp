// Whether there is a reason to ask a launcher who of this host is gone.
#include "bootstrap/hub/host_processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/process_stat.hpp"

namespace chime::bootstrap {
namespace {

constexpr int kPe = 3, kOtherPe = 5;

// A process that lives until it is ended.
class Process {
 public:
  Process() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~Process() { end(); }

  ProcessCard card() const {
    ProcessCard card = card_of_this_process();
    card.pid = pid_;
    card.start_time = stat_of_process(pid_)->start_time;
    return card;
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
  processes.know(kPe, process.card());
  EXPECT_FALSE(processes.is_left_to_launcher(kPe));
  EXPECT_FALSE(processes.leaves_any_to_launcher());
  EXPECT_FALSE(processes.has_unexplained_end());
  EXPECT_EQ(processes.how_ended(kPe), "");
}

TEST(HostProcesses, AskUntilTheEndOfEachIsExplained) {
  HostProcesses processes;
  Process process, other;
  const ProcessCard card = process.card();
  processes.know(kPe, card);
  processes.know(kOtherPe, other.card());
  process.end();
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_EQ(processes.how_ended(kPe),
            "process " + std::to_string(card.pid) + " on host " + card.host + " has ended");
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
  const ProcessCard card = process.card();
  process.end();
  processes.know(kPe, card);
  EXPECT_TRUE(processes.has_unexplained_end());
  EXPECT_NE(processes.how_ended(kPe), "");
}

// Its number has gone to another process.
TEST(HostProcesses, TakeNoOtherProcessForIt) {
  HostProcesses processes;
  const Process process;
  ProcessCard card = process.card();
  card.start_time -= 1000;
  processes.know(kPe, card);
  EXPECT_NE(processes.how_ended(kPe), "");
}

TEST(HostProcesses, LeaveThoseOfOtherProcessSpacesToTheLauncher) {
  HostProcesses processes;
  const Process process;
  ProcessCard card = process.card();
  card.space[0] ^= 1;
  processes.know(kPe, card);
  EXPECT_TRUE(processes.is_left_to_launcher(kPe));
  EXPECT_FALSE(processes.has_unexplained_end());
  processes.note_explained(kPe);
  EXPECT_FALSE(processes.leaves_any_to_launcher());
}

}  // namespace
}  // namespace chime::bootstrap
