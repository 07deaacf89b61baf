#!/usr/bin/env python3
"""The copies of planting.switchable, run after a compiler: each number selects its fault, and 0 none."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import planting

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "g++"

SOURCE = r'''
#include <cstdio>
#define OPEN {  // a brace that opens nothing here
namespace a::inline b {
template <class T, class = void>
struct alignas(16) Pair {
  T first, second{};
  constexpr T sum() const { return first + second; }  // } in a comment
  T larger() const {
    const auto pick = [](T x, T y) { return x > y ? x : y; };
    return pick(first, second);
  }
};
constexpr int kLimit = 1'000;
constexpr int twice(int n) { return 2 * n; }
static_assert(twice(2) == 4);
int counted(const char* text) {
  int count = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at == '{') ++count;
  }
  return count;
}
}  // namespace a::b
int main() {
  const a::Pair<int> pair{3, 4};
  std::printf("%d %d %d %d %d\n", pair.sum(), pair.larger(), a::twice(5), a::counted(R"("{{)"), a::kLimit);
}
'''


class Switchable(unittest.TestCase):
    def outputs(self, *faults):
        """The output of the copy without a fault and with each of `faults`."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "copy.cpp"), pathlib.Path(folder, "copy")
            source.write_text(planting.switchable(SOURCE, dict(enumerate(faults, 1))))
            subprocess.run([COMPILER, "-std=c++20", "-include", HERE / "planted_fault.hpp", source, "-o", program],
                           check=True)
            return [subprocess.run([program], env=os.environ | {"PLANTED_FAULT": str(number)}, text=True,
                                   capture_output=True, check=True).stdout.strip()
                    for number in range(len(faults) + 1)]

    def test_each_number_is_its_fault_and_no_other(self):
        self.assertEqual(self.outputs(("first + second", "first - second"), ("x > y", "x < y"), ("2 * n", "3 * n"),
                                      ("++count;", "count += 5;")),
                         ["7 4 10 2 1000", "-1 4 10 2 1000", "7 3 10 2 1000", "7 4 15 2 1000", "7 4 10 10 1000"])

    def test_two_faults_of_one_function_are_two(self):
        self.assertEqual(self.outputs(("int count = 0;", "int count = 7;"), ("*at == '{'", "*at == '\"'")),
                         ["7 4 10 2 1000", "7 4 10 9 1000", "7 4 10 1 1000"])

    def test_a_fault_may_declare_what_is_used_below_it(self):
        self.assertEqual(self.outputs(("const auto pick = [](T x, T y) { return x > y ? x : y; };\n",
                                       "const auto pick = [](T, T) { return T{0}; };\n"))[1], "7 0 10 2 1000")

    def test_a_fault_outside_every_function_needs_a_copy_of_its_own(self):
        for search in ("kLimit = 1'000", "T first, second{};", "#define OPEN {"):
            with self.assertRaises(planting.NotInAFunction):
                planting.switchable(SOURCE, {1: (search, "")})


if __name__ == "__main__":
    unittest.main()
