// The abort word shows nothing before its cause is complete. The thread that raises it is stopped
// in the middle: its record lies on two pages, and the first access to the second one traps.
#include "host/errors/abort.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

namespace chime::host {
namespace {

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// An abort word whose second part, from 64 bytes on, lies on a separate page.
class WordOnTwoPages {
 public:
  WordOnTwoPages()
      : pages_(static_cast<std::byte*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~WordOnTwoPages() { munmap(pages_, 2 * kPage); }
  abi::AbortWord& word() { return *reinterpret_cast<abi::AbortWord*>(pages_ + kPage - 64); }
  void protect_the_second() { mprotect(pages_ + kPage, kPage, PROT_READ); }
  void open_the_second() { mprotect(pages_ + kPage, kPage, PROT_READ | PROT_WRITE); }

 private:
  std::byte* const pages_;
};

WordOnTwoPages* stopped_at;
std::uint32_t raised_in_between;
bool was_stopped;

void look_in_between(int) {
  if (was_stopped) std::abort();
  was_stopped = true;
  raised_in_between = stopped_at->word().raised;
  stopped_at->open_the_second();
}

TEST(AbortWord, IsPublishedWhenItsCauseIsWhole) {
  WordOnTwoPages memory;
  stopped_at = &memory;
  was_stopped = false;
  struct sigaction look {
  }, before{};
  look.sa_handler = look_in_between;
  sigaction(SIGSEGV, &look, &before);
  memory.protect_the_second();
  const AbortCause cause{CHIMEX_ERR_PEER_DEAD, 7, Path::kNic, std::string(200, 'x'), 3};
  EXPECT_TRUE(raise_abort(memory.word(), cause));
  sigaction(SIGSEGV, &before, nullptr);
  ASSERT_TRUE(was_stopped);
  EXPECT_EQ(raised_in_between, 1u) << "claimed, and not published";
  const auto published = abort_cause(memory.word());
  ASSERT_TRUE(published);
  EXPECT_EQ(published->pe, 7);
  EXPECT_EQ(published->why, cause.why);
  EXPECT_EQ(published->exit_code, 3);
}

TEST(AbortWord, OneThatIsOnlyClaimedHasNoCause) {
  abi::AbortWord word{};
  word.raised = 1;
  EXPECT_FALSE(abort_cause(word));
}

TEST(AbortWord, TheFirstCauseStays) {
  abi::AbortWord word{};
  EXPECT_TRUE(raise_abort(word, {CHIMEX_ERR_PEER_DEAD, 1, Path::kNone, "first", 1}));
  EXPECT_FALSE(raise_abort(word, {CHIMEX_ERR_ABORTED, 2, Path::kNone, "second", 2}));
  EXPECT_EQ(abort_cause(word)->why, "first");
}

}  // namespace
}  // namespace chime::host
