// What is said where the system refuses memory: what it was for. It was "the heap" for all of it.
#include "host/gpu/memfd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// For files, which shared memory counts as.
class Limit {
 public:
  explicit Limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lower{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~Limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  rlimit before_;
};

std::string refusal_of(const MemfdUse& use, std::size_t bytes) {
  const Limit limit(1024);
  try {
    create_memfd(use, bytes);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Memfd, ARefusalNamesWhatTheMemoryIsFor) {
  const auto heap = AllOf(HasSubstr("3 MiB to the symmetric heap"), HasSubstr("ulimit -f"),
                          HasSubstr("CHIME_SYMMETRIC_SIZE"));
  EXPECT_THAT(refusal_of(kHeapMemory, 3 << 20), heap);
  const auto no_heap = AllOf(Not(HasSubstr("heap")), Not(HasSubstr("CHIME_SYMMETRIC_SIZE")));
  EXPECT_THAT(refusal_of(kSharedPages, 4096),
              AllOf(HasSubstr("4096 bytes to pages that the host shares with kernels"), no_heap));
  EXPECT_THAT(refusal_of(kKernelTables, 5 << 20),
              AllOf(HasSubstr("5 MiB to the kernels' tables"), no_heap));
}

}  // namespace
}  // namespace chime::host
