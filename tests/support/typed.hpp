// Runs a body over the rows of a type table of chime/types.h, and over the three groups.
//
//   for_each_rma_type([&]<class T>(Row<T> row) {
//     for_each_group([&]<class Group>(GroupTag<Group>) { pe.run(..., my_kernel<T, Group>, ...); });
//   });
//
// A failure inside names the row and the group.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/types.h"

namespace chime::tests {

// A row of a type table.
template <class T>
struct Row {
  using Type = T;
  const char* name;
};

// Code that moves or changes a value uses only its size and its alignment, so that accesses of all
// types with the same two are the same. A build with CHIME_TEST_TYPES=names or sizes uses these
// types, some of which have a sign; other programs compare the data of each type.
template <class T>
constexpr bool is_looked_at() {
#ifdef CHIME_TEST_ONE_TYPE_A_SIZE
  const auto is_one_of = []<class... Types>(Row<Types>...) {
    return (std::is_same_v<T, Types> || ...);
  };
  return is_one_of(Row<char>{}, Row<short>{}, Row<int>{}, Row<float>{}, Row<long>{},
                   Row<unsigned long>{});
#else
  return true;
#endif
}

// Names of the C API, with a kernel for each name: with CHIME_TEST_TYPES=sizes those of one type.
// The macro's argument must depend on the parameter of a generic lambda, so that nothing of other
// types is compiled.
template <class T>
constexpr bool is_named() {
#ifdef CHIME_TEST_ONE_TYPE_OF_NAMES
  return std::is_same_v<T, unsigned long>;
#else
  return true;
#endif
}
#define CHIME_TEST_IF_NAMED(TYPE, ...)              \
  if constexpr (::chime::tests::is_named<TYPE>()) { \
    __VA_ARGS__                                     \
  }

#define CHIME_TEST_ROW(NAME, TYPE, BODY) \
  if constexpr (is_looked_at<TYPE>()) {  \
    SCOPED_TRACE("type " #NAME);         \
    BODY(Row<TYPE>{#NAME});              \
  }
// Few, each with separate code.
#define CHIME_TEST_EVERY_ROW(NAME, TYPE, BODY) \
  {                                            \
    SCOPED_TRACE("type " #NAME);               \
    BODY(Row<TYPE>{#NAME});                    \
  }

template <class Body>
void for_each_rma_type(Body&& body) {
  CHIME_FOR_RMA_TYPES(CHIME_TEST_ROW, body)
}
template <class Body>
void for_each_wait_type(Body&& body) {
  CHIME_FOR_WAIT_TYPES(CHIME_TEST_ROW, body)
}
template <class Body>
void for_each_bitwise_amo_type(Body&& body) {
  CHIME_FOR_BITWISE_AMO_TYPES(CHIME_TEST_ROW, body)
}
template <class Body>
void for_each_standard_amo_type(Body&& body) {
  CHIME_FOR_STANDARD_AMO_TYPES(CHIME_TEST_ROW, body)
}
template <class Body>
void for_each_extended_amo_type(Body&& body) {
  CHIME_FOR_EXTENDED_AMO_TYPES(CHIME_TEST_ROW, body)
}
template <class Body>
void for_each_float_amo_type(Body&& body) {
  CHIME_FOR_FLOAT_AMO_C_TYPES(CHIME_TEST_EVERY_ROW, body)
  CHIME_FOR_HALF_AMO_TYPES(CHIME_TEST_EVERY_ROW, body)
}
#undef CHIME_TEST_EVERY_ROW
#undef CHIME_TEST_ROW

// The number of groups of a kind in a kernel of this test, and the index of the calling thread's
// group. Blocks have a partly filled last warp, so that groups differ in size.
template <class Group>
struct Crowd;

template <>
struct Crowd<Thread> {
  static constexpr const char* kName = "thread";
  static constexpr unsigned kBlocks = 2, kThreads = 5, kGroups = 10;
  CHIME_DEVICE static unsigned index() { return static_cast<unsigned>(exec::grid_rank()); }
};
template <>
struct Crowd<Warp> {
  static constexpr const char* kName = "warp";
  static constexpr unsigned kBlocks = 2, kThreads = 45, kGroups = 4;
  CHIME_DEVICE static unsigned index() { return exec::block_rank() * 2 + exec::warp_id(); }
};
template <>
struct Crowd<Block> {
  static constexpr const char* kName = "block";
  static constexpr unsigned kBlocks = 2, kThreads = 70, kGroups = 2;
  CHIME_DEVICE static unsigned index() { return exec::block_rank(); }
};

template <class Group>
struct GroupTag {
  using Type = Group;
};

template <class Body>
void for_each_group(Body&& body) {
  auto with = [&]<class Group>(GroupTag<Group> tag) {
    SCOPED_TRACE(std::string("group ") + Crowd<Group>::kName);
    body(tag);
  };
  with(GroupTag<Thread>{});
  with(GroupTag<Warp>{});
  with(GroupTag<Block>{});
}

}  // namespace chime::tests
