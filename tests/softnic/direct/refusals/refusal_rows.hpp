// The kernel's refusals as rows of a table: a call with one mistake, and its error number.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <ostream>
#include <string>

#include "kernel_calls.hpp"

namespace direct {

struct Row {
  const char* name;
  int error;
  std::function<int(Objects&)> call;
};
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
inline std::string name_of_row(const testing::TestParamInfo<Row>& info) { return info.param.name; }

class RefusalRows : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() { objects = std::make_unique<Objects>(); }
  static void TearDownTestSuite() { objects.reset(); }
  static void expect_refusal() {
    EXPECT_EQ(GetParam().call(*objects), GetParam().error)
        << "expected " << std::strerror(GetParam().error);
  }
  inline static std::unique_ptr<Objects> objects;
};

}  // namespace direct
