// The message where the system refuses memory: its purpose. It was "the heap" in all cases.
#include "host/gpu/memfd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A limit of files, which includes shared memory.
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

std::size_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

// Address ranges are reserved with room for the alignment, on both sides.
TEST(Memfd, LeavesNoAddressesBehind) {
  constexpr std::size_t kAlignment = std::size_t{16} << 20;
  const auto map_some = [] {
    std::vector<std::unique_ptr<DeviceMemory>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(create_memfd(kHeapMemory, (std::size_t{1} << 20) + 4096, kAlignment));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.back()->address()) % kAlignment, 0u);
    }
  };
  map_some();
  const std::size_t before = count_mappings();
  map_some();
  EXPECT_LT(count_mappings(), before + 10);
}

}  // namespace
}  // namespace chime::host
