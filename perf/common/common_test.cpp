// Common parts of the benchmarks: sizes with units, JSON in bytes, estimates, and the silence of
// short runs.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
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

TEST(Table, KeepsLongNamesApart) {
  testing::internal::CaptureStdout();
  Table("x", "Size", {"a name of many words", "b"}, {}).print_header();
  const std::string header = testing::internal::GetCapturedStdout();
  EXPECT_NE(header.find("  a name of many words  "), std::string::npos) << header;
}

TEST(Table, KeepsRowsForJsonInSilence) {
  const std::string path = testing::TempDir() + "kept.json";
  Table table("x", "Size", {"a (us)"}, {});
  testing::internal::CaptureStdout();
  table.keep(Size{65536}, {1.5});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
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

TEST(Estimate, TakesWhatLiesBetweenToBeLinear) {
  Keys keys(12), seen;
  std::iota(keys.begin(), keys.end(), 0);
  const double seconds = sum_of_seconds(keys, [&](std::size_t key) {
    seen.push_back(key);
    return 5.0 + 2.0 * static_cast<double>(key);
  });
  EXPECT_EQ(seen, (Keys{0, 4, 8, 11}));
  EXPECT_DOUBLE_EQ(seconds, 12 * 5.0 + 2.0 * 66);
}

TEST(Estimate, IsFromOneRepeatOfEachRow) {
  Options options;
  options.repeats = 20;
  const double seconds = estimate_s(options, Keys{1}, [](const Options& once, std::size_t) {
    EXPECT_EQ(once.repeats, 1);
    sleep_ms(5);
  });
  EXPECT_GE(seconds, 20 * 0.005);  // sleeps are never shorter
}

// The output of a sweep of two rows, and the number of its measurements. Quick runs report nothing.
struct Swept {
  int measured = 0;
  std::string out, err;
};
Swept swept(bool prints, bool quick) {
  Options options;
  options.program = "bench";
  options.quick = quick;
  Table table("x", "Size", {"a"}, {});
  Swept result;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  sweep(table, options, prints, std::vector<Size>{{8}, {1024}}, [&](const Options&, Size) {
    ++result.measured;
    return std::vector{1.0};
  });
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

TEST(Sweep, EstimatesItsTimeButForAQuickLook) {
  EXPECT_EQ(swept(true, false).measured, 2 + 2);
  EXPECT_EQ(swept(true, true).measured, 2);
}

TEST(Sweep, LeavesTheTableAlone) {
  const Swept one = swept(true, false), other = swept(false, false);
  EXPECT_NE(one.out.find("1 KiB"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("bench"), std::string::npos) << one.out;
  EXPECT_EQ(other.out, "");
  EXPECT_EQ(one.err + other.err, "");
}

// The output during a row that lasts a second, with reports after 10 ms of silence.
std::string said(bool tells, double expected_s) {
  testing::internal::CaptureStderr();
  {
    Pace pace("bench", tells, 0.01);
    if (expected_s > 0) pace.expect(expected_s);
    pace.begin_row("8 B", 1, 2);
    sleep_ms(1000);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Pace, SaysItsTimeBeforeAndHowFarItIs) {
  const std::string words = said(true, 11);
  EXPECT_LT(words.find("bench: this takes about 11 s; with --quick a few seconds"),
            words.find("row 1 of 2"))
      << words;
  EXPECT_NE(words.find("\nbench: 8 B, row 1 of 2, "), std::string::npos) << words;
  EXPECT_NE(words.find(" s so far of about 11 s\n"), std::string::npos) << words;
}

TEST(Pace, SaysNothingBeforeWhatIsShort) {
  EXPECT_EQ(said(true, 4).find("this takes about"), std::string::npos);
}

TEST(Pace, IsSilentWhereAnotherPeTells) { EXPECT_EQ(said(false, 11), ""); }

}  // namespace
}  // namespace chime::perf
