// Which buffers may be registered: the allowed overlaps on either side.
#include "host/memory/registered_buffers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

class RegisteredBuffersOfAHeap : public testing::Test {
 protected:
  bool is_taken(std::size_t begin, std::size_t bytes) {
    try {
      buffers_.add(memory_.data() + begin, bytes);
    } catch (const Error&) {
      return false;
    }
    buffers_.remove(memory_.data() + begin);
    return true;
  }

  std::array<std::byte, 1000> memory_;
  Transports transports_;
  // From 400 to 600.
  RegisteredBuffers buffers_{std::span(memory_).subspan(400, 200), false, transports_};
};

TEST_F(RegisteredBuffersOfAHeap, MayTouchTheHeapAndNotOverlapIt) {
  EXPECT_TRUE(is_taken(300, 100));
  EXPECT_TRUE(is_taken(600, 100));
  EXPECT_FALSE(is_taken(300, 101)) << "it ends in the heap";
  EXPECT_FALSE(is_taken(599, 100)) << "it begins in the heap";
  EXPECT_FALSE(is_taken(450, 10)) << "it lies in the heap";
  EXPECT_FALSE(is_taken(300, 400)) << "the heap lies in it";
}

TEST_F(RegisteredBuffersOfAHeap, MayTouchAnotherOneAndNotOverlapIt) {
  buffers_.add(memory_.data() + 100, 100);
  EXPECT_TRUE(is_taken(0, 100));
  EXPECT_TRUE(is_taken(200, 100));
  EXPECT_FALSE(is_taken(0, 101));
  EXPECT_FALSE(is_taken(199, 100));
  EXPECT_FALSE(is_taken(120, 10));
  EXPECT_FALSE(is_taken(0, 300));
}

TEST_F(RegisteredBuffersOfAHeap, HoldWhatLiesInOneOfThem) {
  buffers_.add(memory_.data() + 100, 100);
  buffers_.add(memory_.data() + 200, 100);
  EXPECT_TRUE(buffers_.holds(memory_.data() + 100, 100));
  EXPECT_TRUE(buffers_.holds(memory_.data() + 299, 1));
  EXPECT_FALSE(buffers_.holds(memory_.data() + 99, 2));
  EXPECT_FALSE(buffers_.holds(memory_.data() + 299, 2));
  EXPECT_FALSE(buffers_.holds(memory_.data() + 150, 100)) << "it lies in two";
}

}  // namespace
}  // namespace chime::host
