// A child of fork() does not hold its parent's connections open.
#include "net/socket/fork.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meeting.hpp"

namespace chime::net::test {
namespace {

// A child that exists when the constructor returns, and lives until the test ends it.
class LongLivedChild {
 public:
  LongLivedChild() {
    EXPECT_EQ(pipe(hold_), 0);
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    char byte = 0;
    if (pid_ == 0) {
      close(hold_[1]);
      _exit(write(ready[1], &byte, 1) == 1 && read(hold_[0], &byte, 1) == 0 ? 0 : 1);
    }
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~LongLivedChild() {
    close(hold_[0]);
    close(hold_[1]);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  bool is_running() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  int hold_[2];
  pid_t pid_ = -1;
};

TEST(Fork, TheEndOfAConnectionIsSeenThoughAChildLives) {
  Met met;
  const LongLivedChild child;
  met.client().close();
  EXPECT_TRUE(met.run([&] { return !met.house.notebook.ends.empty(); }));
  EXPECT_TRUE(child.is_running());
}

TEST(Fork, AListenerIsGoneThoughAChildLives) {
  Reactor reactor;
  std::optional<House> house(std::in_place, reactor);
  const auto address = house->address;
  const LongLivedChild child;
  house.reset();
  EXPECT_NO_THROW(listen_at(address)) << "the name is free";
  EXPECT_TRUE(child.is_running());
}

TEST(Fork, TheParentGoesOn) {
  Met met;
  const LongLivedChild child;
  met.client().send(payload("after the fork"));
  EXPECT_TRUE(met.run([&] { return !met.house.notebook.frames.empty(); }));
}

// The child's descriptors must not get numbers that its copies of the parent's objects close.
TEST(Fork, TheChildMayDestroyItsCopies) {
  std::optional<Met> met(std::in_place);
  const pid_t child = fork();
  if (child == 0) {
    const int own = dup(STDERR_FILENO);
    met.reset();
    struct stat status;
    _exit(fstat(own, &status) == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  met->client().send(payload("unharmed"));
  EXPECT_TRUE(met->run([&] { return !met->house.notebook.frames.empty(); }));
}

TEST(Fork, AnOrdinaryDescriptorIsTheChildsToo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t child = fork();
  if (child == 0) _exit(write(writing.get(), "x", 1) == 1 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace chime::net::test
