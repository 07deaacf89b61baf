// What the benchmarks share: sizes with units, JSON in bytes, estimates, and who is silent.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "sweep.hpp"

namespace chime::perf {
namespace {

using Keys = std::vector<std::size_t>;

void sleep_ms(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

TEST(Size, HasTheLargestUnitInWhichItIsWhole) {
  EXPECT_EQ(Size{1}.in_words(), "1 B");
  EXPECT_EQ(Size{1023}.in_words(), "1023 B");
  EXPECT_EQ(Size{1024}.in_words(), "1 KiB");
  EXPECT_EQ(Size{1536}.in_words(), "1536 B");
  EXPECT_EQ(Size{65536}.in_words(), "64 KiB");
  EXPECT_EQ(Size{3 << 19}.in_words(), "1536 KiB");
  EXPECT_EQ(Size{4 << 20}.in_words(), "4 MiB");
}

TEST(Duration, IsInMinutesWhereItIsLong) {
  EXPECT_EQ(duration_in_words(7.6), "8 s");
  EXPECT_EQ(duration_in_words(59.6), "1 min 0 s");
  EXPECT_EQ(duration_in_words(164), "2 min 44 s");
}

TEST(Table, ShowsUnitsAndKeepsBytesInJson) {
  const std::string path = testing::TempDir() + "table.json";
  Table table("x", "Size", {"a (us)"}, {});
  testing::internal::CaptureStdout();
  table.row(Size{65536}, {1.5});
  table.row(std::size_t{65536}, {2.5});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "64 KiB                   1.500\n65536                    2.500\n");
  ASSERT_TRUE(table.write_json(path));
  std::ifstream file(path);
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(json.find("\"Size\": 65536,\n   \"a (us)\": 1.5"), std::string::npos) << json;
}

TEST(Sizes, GoUpToTheLargest) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = 600;
  std::vector<std::size_t> bytes;
  for (const Size size : sizes_of(options, 8)) bytes.push_back(size.bytes);
  EXPECT_EQ(bytes, (Keys{8, 64, 512}));
}

TEST(Estimate, IsOfAllRowsAndRepeatsFromOneOfSome) {
  Options options;
  options.repeats = 20;
  Keys keys;
  for (std::size_t i = 0; i < 12; ++i) keys.push_back(i);
  Keys seen;
  const double seconds = estimate_s(options, keys, [&](const Options& once, std::size_t key) {
    EXPECT_EQ(once.repeats, 1);
    seen.push_back(key);
    sleep_ms(5 + 2 * static_cast<double>(key));
  });
  EXPECT_EQ(seen, (Keys{0, 4, 8, 11}));
  const double exact = 20 * (12 * 0.005 + 0.002 * 66);
  EXPECT_GE(seconds, exact);  // sleeps are never shorter
  EXPECT_LT(seconds, 3 * exact);
}

// What a sweep of two rows writes to standard error; `row_ms`: of a repeat of a row.
std::string told(bool prints, bool quick, double row_ms, int repeats) {
  Options options;
  options.program = "bench";
  options.quick = quick;
  options.repeats = repeats;
  Table table("x", "Size", {"a"}, {});
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  sweep(table, options, prints, std::vector<Size>{{8}, {1024}}, [&](const Options& chosen, Size) {
    for (int r = 0; r < chosen.repeats; ++r) sleep_ms(row_ms);
    return std::vector{1.0};
  });
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.find("1 KiB") != std::string::npos, prints) << out;
  EXPECT_EQ(out.find("bench"), std::string::npos) << "the table is not alone: " << out;
  return testing::internal::GetCapturedStderr();
}

TEST(Sweep, IsSilentWhereItIsShortOrAnotherPeTells) {
  EXPECT_EQ(told(true, false, 1, 3), "");
  EXPECT_EQ(told(true, true, 1, 3), "");
  EXPECT_EQ(told(false, true, 5200, 1), "");
}

TEST(Sweep, SaysItsTimeBeforeAndHowFarItIs) {
  const std::string words = told(true, false, 270, 20);
  EXPECT_EQ(words.rfind("bench: this takes about 11 s; with --quick a few seconds", 0), 0u)
      << words;
  EXPECT_NE(words.find("bench: 8 B, row 1 of 2, 5 s so far of about 11 s\n"), std::string::npos)
      << words;
}

}  // namespace
}  // namespace chime::perf
