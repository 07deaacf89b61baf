// One SOFTNIC_TRACE for several processes: no process loses a record.

#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <set>

#include "activated.hpp"
#include "child.hpp"

namespace {
int error_of_flock = 0;
}  // namespace

// The softnic's calls find this one before libc's: the program exports it (CMakeLists.txt).
extern "C" [[gnu::visibility("default")]] int flock(int fd, int operation) noexcept {
  if (error_of_flock == 0) return static_cast<int>(::syscall(SYS_flock, fd, operation));
  errno = error_of_flock;
  return -1;
}

namespace {

struct File {
  std::size_t lines = 0;
  std::set<std::string> pids;
};

class TraceFiles : public testing::Test {
 protected:
  TraceFiles() { options.trace = trace.c_str(); }

  void use_the_nic() const {
    Softnic().must_activate(&options);
    expect_loopback_works(load_verbs());
  }

  // The files of the folder, by name.
  std::map<std::string, File> files() const {
    std::map<std::string, File> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
      File& file = all[entry.path().filename()];
      std::ifstream lines(entry.path());
      for (std::string line; std::getline(lines, line); ++file.lines) {
        const auto at = line.find("\"pid\":") + 6;
        file.pids.insert(line.substr(at, line.find(',', at) - at));
      }
    }
    return all;
  }

  Folder folder;
  const std::string trace = folder.path / "t";
  softnic_options options = options_for_this_test();
};

std::set<std::string> only(pid_t process) { return {std::to_string(process)}; }

}  // namespace

TEST_F(TraceFiles, ForkedChildHasItsOwn) {
  const pid_t parent = start_child([&] {
    use_the_nic();
    const std::size_t lines = files()["t"].lines;
    EXPECT_GT(lines, 0u);
    testing::internal::CaptureStderr();
    const pid_t child = start_child([&] {
      expect_loopback_works(load_verbs());
      ::_exit(testing::Test::HasFailure() ? 1 : 0);  // the parent's objects are not the child's
    });
    expect_success(child);
    const std::string own = "t." + std::to_string(child);
    const std::string told = testing::internal::GetCapturedStderr();
    const auto first =
        told.find("softnic: SOFTNIC_TRACE: '" + trace +
                  "' is being written by another process; this process writes to '" +
                  (folder.path / own).string() + "'. A name with %p gives each its own\n");
    EXPECT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("is being written", told.find("is being written") + 1), std::string::npos);
    EXPECT_EQ(files()["t"].lines, lines) << "the parent's are still there";
    EXPECT_EQ(files()[own].pids, only(child));
  });
  expect_success(parent);
  EXPECT_EQ(files()["t"].pids, only(parent));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(TraceFiles, FileThatCannotBeLockedIsLeftAlone) {
  std::ofstream(trace) << "of another process\n";
  const pid_t child = start_child([&] {
    error_of_flock = ENOLCK;
    testing::internal::CaptureStderr();
    use_the_nic();
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("'" + trace + "' cannot be locked: No locks available"), std::string::npos)
        << told;
  });
  expect_success(child);
  EXPECT_EQ(files()["t"].lines, 1u);
  EXPECT_EQ(files()["t." + std::to_string(child)].pids, only(child));
}

TEST_F(TraceFiles, FileOfAProcessThatHasEndedIsBegunAnew) {
  in_child([&] { use_the_nic(); });
  const pid_t second = start_child([&] { use_the_nic(); });
  expect_success(second);
  EXPECT_EQ(files()["t"].pids, only(second));
  EXPECT_EQ(files().size(), 1u);
}
