// The predictor's model, calibration, devices, sizes and reports, by figures worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "tools/chime-info/predict/calibrate.hpp"
#include "tools/chime-info/predict/devices.hpp"
#include "tools/chime-info/predict/report.hpp"
#include "tools/chime-info/predict/sizes.hpp"

namespace chime::predict {
namespace {

constexpr std::size_t kKibi = 1 << 10, kMebi = 1 << 20;

Stage link(double bytes_per_us) { return {.name = "link", .levels = {{0, bytes_per_us}}}; }

TEST(Stage, TakesItsStartAndEachByteAtTheRate) {
  Stage stage = link(100);
  stage.start_us = 3;
  EXPECT_DOUBLE_EQ(stage_us(stage, 0), 3);
  EXPECT_DOUBLE_EQ(stage_us(stage, 500), 3 + 5);
}

TEST(Stage, SendsAHeaderWithEachPacketAlsoTheLastThatIsNotFull) {
  Stage stage = link(10);
  stage.packet_bytes = 100;
  stage.header_bytes = 20;
  EXPECT_DOUBLE_EQ(stage_us(stage, 100), 12);
  EXPECT_DOUBLE_EQ(stage_us(stage, 101), 14.1);
}

TEST(Stage, OfPointsTheRateChangesWithTheLogarithmOfTheSize) {
  const Stage stage{
      .name = "copy", .levels = {{100, 10}, {400, 20}, {1600, 5}}, .kind = Levels::kPoints};
  EXPECT_DOUBLE_EQ(stage_us(stage, 50), 5);  // below the first point: at its rate
  EXPECT_DOUBLE_EQ(stage_us(stage, 100), 10);
  EXPECT_DOUBLE_EQ(stage_us(stage, 200), 200 / 15.0);
  EXPECT_DOUBLE_EQ(stage_us(stage, 400), 20);
  EXPECT_DOUBLE_EQ(stage_us(stage, 800), 800 / 12.5);
  EXPECT_DOUBLE_EQ(stage_us(stage, 3200), 640);  // beyond the last: at its rate
}

TEST(Stage, OfACacheAllBytesTakeTheRateOfWhatHoldsThem) {
  const Stage stage{.name = "copy", .levels = {{100, 10}, {0, 5}}};
  EXPECT_DOUBLE_EQ(stage_us(stage, 100), 10);
  EXPECT_DOUBLE_EQ(stage_us(stage, 150), 0.5 * 15 + 0.5 * 30);  // half way to where all miss
  EXPECT_DOUBLE_EQ(stage_us(stage, 200), 40);
  EXPECT_DOUBLE_EQ(stage_us(stage, 1000), 200);
}

TEST(Path, StagesFollowOneAnother) {
  const TransferPath path{.name = "p", .fixed_us = 7, .stages = {link(10), link(5)}};
  EXPECT_DOUBLE_EQ(time_us(path, 100), 7 + 10 + 20);
  EXPECT_DOUBLE_EQ(megabytes_per_s(path, 100), 100 / 37.0);
}

TEST(Path, InChunksOnlyTheSlowestStageRepeats) {
  const TransferPath path{
      .name = "p", .fixed_us = 7, .stages = {link(10), link(5)}, .chunk_bytes = 50};
  EXPECT_DOUBLE_EQ(time_us(path, 50), 7 + 5 + 10);
  EXPECT_DOUBLE_EQ(time_us(path, 200), 7 + 5 + 10 + 3 * 10);
}

TEST(Path, OverlapHidesNoMoreThanWhatMoves) {
  const TransferPath path{.name = "p", .fixed_us = 7, .overlap_us = 4, .stages = {link(10)}};
  EXPECT_DOUBLE_EQ(time_us(path, 20), 7);
  EXPECT_DOUBLE_EQ(time_us(path, 100), 7 + 10 - 4);
}

TEST(Path, ProcessorShareIsHostTimeByTransferTime) {
  const TransferPath path{
      .name = "p", .fixed_us = 10, .stages = {link(10)}, .host_us = 5, .host_share = 0.25};
  EXPECT_DOUBLE_EQ(processor_share(path, 0), 0.5);
  EXPECT_DOUBLE_EQ(processor_share(path, 300), (5 + 0.25 * 30) / 40);
}

TEST(Path, AMessageKeepsTheHostAsBusyAsACall) {
  const TransferPath path{.name = "p",
                          .fixed_us = 10,
                          .short_us = 4,
                          .short_bytes = 128,
                          .stages = {link(10)},
                          .host_us = 5,
                          .host_share = 0};
  EXPECT_DOUBLE_EQ(processor_share(path, 0), 0.5);
  EXPECT_DOUBLE_EQ(processor_share(path, 100), 7.0 / 24);
}

// 1 + n/10 and 11.02 + n/20 meet at 200.4: from 201 on the second is faster.
TEST(Crossings, AreFoundToTheByte) {
  const TransferPath a{.name = "a", .fixed_us = 1, .stages = {link(10)}};
  const TransferPath b{.name = "b", .fixed_us = 11.02, .stages = {link(20)}};
  for (const auto& found : {crossings(a, b, 8, 1000), crossings(b, a, 8, 1000)}) {
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bytes, 201u);
    EXPECT_EQ(found[0].faster_from, "b");
    EXPECT_EQ(found[0].slower_before, "a");
    EXPECT_DOUBLE_EQ(found[0].gain, 101.0 / 61.02);
  }
  EXPECT_TRUE(crossings(a, b, 8, 100).empty());
  EXPECT_TRUE(crossings(a, a, 8, 1000).empty());
}

// Samples of just the sizes of this path, and copies of 4 KiB to 4 MiB.
Samples samples_of(const std::string& path, double (*put)(double), double (*staged)(double),
                   double (*copy)(double)) {
  Samples samples{.path = path, .samples = {}, .copies = {}};
  for (const std::size_t bytes : calibration_sizes(path)) {
    const auto n = static_cast<double>(bytes);
    samples.samples.push_back({bytes, put(n), put(n) / 2, staged(n), staged(n)});
  }
  for (std::size_t bytes = 4 * kKibi; bytes <= 4 * kMebi; bytes *= 2)
    samples.copies.push_back({bytes, copy(static_cast<double>(bytes))});
  return samples;
}

double copy_at_50(double n) { return n / 50e3; }

// 20 us, a byte takes 1/5000 us within the caches, and thrice that beyond them.
double put_by_caches(double n) {
  const double cache = 384 << 10, share = std::clamp(n / cache - 1, 0.0, 1.0);
  return 20 + n / 5000 * (1 + 2 * share);
}

TEST(Calibration, OfALinkFindsBothRatesAndTheCallsCost) {
  for (const char* const name : {"nic", "proxy"}) {
    const TransferPath path =
        direct_path(samples_of(name, put_by_caches, put_by_caches, copy_at_50));
    EXPECT_NEAR(path.fixed_us, 20, 1e-6) << name;
    for (std::size_t bytes = 256; bytes <= 8 * kMebi; bytes *= 2)
      EXPECT_NEAR(time_us(path, bytes), put_by_caches(static_cast<double>(bytes)), 1e-6)
          << name << ", " << bytes;
    EXPECT_NEAR(processor_share(path, 4 * kMebi), 0.5, 0.01);
  }
}

TEST(Path, OfMessagesShortTransfersTakeLonger) {
  const TransferPath path{
      .name = "p", .fixed_us = 7, .short_us = 2, .short_bytes = 128, .stages = {link(10)}};
  EXPECT_DOUBLE_EQ(time_us(path, 128), 7 + 2 + 12.8);
  EXPECT_DOUBLE_EQ(time_us(path, 129), 7 + 12.9);
}

TEST(Calibration, OfTheProxyKnowsWhatMessagesTake) {
  const auto put = [](double n) { return (n > 128 ? 40 : 55) + n / 5000; };
  const Samples samples = samples_of("proxy", put, put, copy_at_50);
  for (const TransferPath& path : {direct_path(samples), staged_path(samples)}) {
    EXPECT_NEAR(time_us(path, 8), put(8), 0.01) << path.name;
    EXPECT_NEAR(time_us(path, 128), put(128), 0.01) << path.name;
    EXPECT_NEAR(time_us(path, 129), put(129), 0.01) << path.name;
  }
}

TEST(Calibration, OfANicHasNoMessages) {
  const TransferPath nic = direct_path(samples_of("nic", put_by_caches, put_by_caches, copy_at_50));
  EXPECT_EQ(nic.short_bytes, 0);
  EXPECT_EQ(calibration_sizes("nic"), (std::vector<std::size_t>{256, 128 * kKibi, 2 * kMebi}));
}

// Stores take 1.5 times as long as copies up to 64 KiB, and twice as long from 4 MiB on.
TEST(Calibration, OfAMappedPathKeepsTheRatesOfCopies) {
  const auto copy = [](double n) { return n / (n < 16384 ? 100e3 : n < 524288 ? 50e3 : 25e3); };
  const auto put = [](double n) {
    const auto copy = n / (n < 16384 ? 100e3 : n < 524288 ? 50e3 : 25e3);
    return 0.05 + (n > 65536 ? 2 : 1.5) * copy - 0.002;
  };
  const TransferPath path = direct_path(samples_of("p2p", put, put, copy));
  EXPECT_EQ(path.name, "mapped");
  EXPECT_NEAR(time_us(path, 64 * kKibi), put(65536), 1e-2 * put(65536));
  EXPECT_NEAR(time_us(path, 4 * kMebi), put(4.0 * kMebi), 1e-2 * put(4.0 * kMebi));
  // What the small put took beside its bytes is not known apart: it counts as the call's.
  EXPECT_NEAR(time_us(path, 8 * kKibi), put(8192), 0.01 * put(8192) + 0.006);
  // Half of the way between the two, by logarithms.
  EXPECT_NEAR(time_us(path, 512 * kKibi), 0.05 + 1.75 * copy(524288), 0.1);
}

TEST(Calibration, OfAStagedPathMeetsItsSizesWithBothCopies) {
  const auto staged = [](double n) { return put_by_caches(n) + 2 * copy_at_50(n); };
  const TransferPath path = staged_path(samples_of("proxy", staged, staged, copy_at_50));
  ASSERT_EQ(path.stages.size(), 3u);
  EXPECT_EQ(path.stages[0].name, "copy to host memory");
  EXPECT_EQ(path.stages[1].name, "link");
  EXPECT_EQ(path.stages[2].name, "copy to device memory");
  for (const std::size_t bytes : {256 * std::size_t{1}, 128 * kKibi, kMebi, 4 * kMebi})
    EXPECT_NEAR(time_us(path, bytes), staged(static_cast<double>(bytes)), 1e-6) << bytes;
}

TEST(Calibration, NamesTheSizeThatIsNotThere) {
  const Samples samples{.path = "nic", .samples = {{.bytes = 256, .put_us = 1}}, .copies = {}};
  try {
    direct_path(samples);
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no sample of 131072 bytes"), std::string::npos);
  }
}

TEST(Samples, AreReadAsTheyAreWritten) {
  std::ostringstream out;
  write_samples(out, {"nic", {{8, 1.5, 0.25, 3, 2}}, {{4096, 0.125}}});
  const Samples read = read_samples(out.str());
  EXPECT_EQ(read.path, "nic");
  ASSERT_EQ(read.samples.size(), 1u);
  EXPECT_EQ(read.samples[0].bytes, 8u);
  EXPECT_EQ(read.samples[0].put_host_us, 0.25);
  EXPECT_EQ(read.samples[0].staged_host_us, 2);
  ASSERT_EQ(read.copies.size(), 1u);
  EXPECT_EQ(read.copies[0].bytes, 4096u);
  EXPECT_EQ(read.copies[0].us, 0.125);
  EXPECT_THROW(read_samples(""), std::runtime_error);
  for (const char* const wrong : {"put 8 1 2\n", "copy 8\n", "get 8 1 2 3 4\n"})
    EXPECT_THROW(read_samples(std::string("path nic\n") + wrong), std::runtime_error) << wrong;
}

// 64 GT/s x 16 is 128 GB/s; a direct put is bound by 400 Gb/s, the mapped one by NVLink.
TEST(Devices, GiveTheNarrowestLinkOfTheRoute) {
  const auto paths = paths_of({.gpu = "h100", .nic = "CX7", .links = {}});
  ASSERT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths[1].name, "direct");
  EXPECT_DOUBLE_EQ(paths[1].stages[0].levels[0].bytes_per_us, 50000);
  EXPECT_DOUBLE_EQ(paths[0].stages[0].levels[0].bytes_per_us, 450e3 * 0.83);
  const auto narrow = paths_of({.gpu = "H100", .nic = "cx7", .links = {"pcie3x8", "nvlink2"}});
  EXPECT_DOUBLE_EQ(narrow[1].stages[0].levels[0].bytes_per_us, 7877);
  EXPECT_DOUBLE_EQ(narrow[0].stages[0].levels[0].bytes_per_us, 150e3 * 0.83);
  EXPECT_EQ(paths[3].stages.size(), 3u);
}

TEST(Devices, AProxyAndStagingAddTheirStatedParts) {
  const auto paths = paths_of({.gpu = "H100", .nic = "cx7", .links = {"pcie3x8"}});
  EXPECT_NEAR(time_us(paths[1], 8), 9.67, 0.01);
  EXPECT_NEAR(time_us(paths[2], 8), 9.67 + 38.6 - 16.9, 0.01);
  EXPECT_NEAR(time_us(paths[3], 8), 6 + 2.51 + 6, 0.02);
  for (const std::size_t bytes : {std::size_t{8}, kMebi}) {
    EXPECT_DOUBLE_EQ(processor_share(paths[1], bytes), 0);
    for (const int with_a_host_thread : {2, 3})
      EXPECT_DOUBLE_EQ(processor_share(paths[with_a_host_thread], bytes), 1);
  }
  for (const Stage& stage : paths[3].stages)
    EXPECT_DOUBLE_EQ(stage.levels[0].bytes_per_us, 7877) << stage.name;
}

// GT/s x lanes x coding / 8: 128 of 130 bits are payload, of generation 6 242 of 256 bytes.
TEST(Devices, PcieHasTheRateOfItsGeneration) {
  for (const int generation : {3, 4, 5, 6})
    for (const int lanes : {8, 16}) {
      const std::string name = "pcie" + std::to_string(generation) + "x" + std::to_string(lanes);
      const auto paths = paths_of({.gpu = "H100", .nic = "cx8", .links = {name}});
      const double coding = generation < 6 ? 128.0 / 130 : 242.0 / 256;
      const double rate = (8 << (generation - 3)) * lanes * coding / 8 * 1000;
      EXPECT_NEAR(paths[3].stages[0].levels[0].bytes_per_us, rate, 0.001 * rate) << name;
    }
}

TEST(Devices, EachHasASourceAndLinksThatAreKnown) {
  for (const Gpu& gpu : gpus()) {
    EXPECT_NO_THROW(paths_of({.gpu = std::string(gpu.name), .nic = "cx7", .links = {}}))
        << gpu.name;
    EXPECT_FALSE(gpu.source.empty());
  }
  for (const Nic& nic : nics()) {
    EXPECT_NO_THROW(paths_of({.gpu = "A100", .nic = std::string(nic.name), .links = {}}))
        << nic.name;
    EXPECT_FALSE(nic.source.empty());
  }
  for (const Link& one : links()) EXPECT_FALSE(one.source.empty()) << one.name;
}

TEST(Sizes, AreReadWithTheirUnits) {
  EXPECT_EQ(size_of("8"), 8u);
  EXPECT_EQ(size_of("64K"), 64 * kKibi);
  EXPECT_EQ(size_of("4M"), 4 * kMebi);
  EXPECT_EQ(size_of("2G"), 2048 * kMebi);
  EXPECT_EQ(size_of("1024G"), kMebi * kMebi);
  EXPECT_EQ(size_of("64k"), 64 * kKibi);
  EXPECT_EQ(size_of("7B"), 7u);
  EXPECT_EQ(sizes_in("8:40"), (std::vector<std::size_t>{8, 16, 32, 40}));
  EXPECT_EQ(sizes_in("8:8"), std::vector<std::size_t>{8});
  for (const char* const wrong :
       {"", "0", "-1", "8X", "K", "99999999999999999999", "1025G", "2000G"})
    EXPECT_THROW(size_of(wrong), std::invalid_argument) << wrong;
  for (const char* const wrong : {"8", "64:8", "8:", ":8", "8:16:32"})
    EXPECT_THROW(sizes_in(wrong), std::invalid_argument) << wrong;
  EXPECT_EQ(in_words(1000), "1000 B");
  EXPECT_EQ(in_words(64 * kKibi), "64 KiB");
  EXPECT_EQ(in_words(1025 * kKibi), "1025 KiB");
  EXPECT_EQ(in_words(3 * kMebi), "3 MiB");
  EXPECT_EQ(in_words(2048 * kMebi), "2 GiB");
}

Prediction two_lines() {
  return {.notes = {"note"},
          .paths = {{.name = "a", .fixed_us = 1, .stages = {link(10)}},
                    {.name = "b", .fixed_us = 11.02, .stages = {link(20)}}},
          .sizes = {8, 1000},
          .comparisons = {{"a", 8, 1.8, 2, false}, {"a", 1000, 150, 100, true}}};
}

TEST(Report, SaysWhereTheLinesCross) {
  const auto said = sentences(two_lines());
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], "from 201 B on b beats a, by 1.66 times at 1000 B");
  Prediction small = two_lines();
  small.sizes = {8, 100};
  EXPECT_EQ(sentences(small)[0], "a beats b at all sizes: 6.34 times at 8 B, 1.46 times at 100 B");
}

// b is faster from 201 B on, and beyond 1000 B so much slower that it is slower again from 1043 B
// on.
TEST(Report, SaysThatLinesCrossAgain) {
  Prediction prediction = two_lines();
  prediction.paths[1].stages = {{.name = "link", .levels = {{1000, 20}, {0, 1}}}};
  prediction.sizes = {8, 100'000};
  EXPECT_EQ(sentences(prediction),
            (std::vector<std::string>{"from 201 B on b beats a, until they cross again",
                                      "from 1043 B on a beats b, by 10.00 times at 100000 B"}));
}

TEST(Report, ComparesByTheMeasuredTime) {
  const std::string text = comparison_table(two_lines());
  EXPECT_NE(text.find("-10.0 %\n"), std::string::npos) << text;
  EXPECT_NE(text.find("+50.0 % *\n"), std::string::npos) << text;
}

TEST(Report, HasTheSameFiguresAsJson) {
  const auto json = to_json(two_lines());
  EXPECT_DOUBLE_EQ(json["rows"][1]["b"]["us"].get<double>(), 61.02);
  EXPECT_EQ(json["crossings"][0]["bytes"].get<int>(), 201);
  EXPECT_EQ(json["paths"][0]["stages"][0]["levels"][0]["bytes_per_us"].get<int>(), 10);
  EXPECT_NEAR(json["worst_error"].get<double>(), 0.1, 1e-12);  // of the size not calibrated
  EXPECT_NE(table(two_lines()).find("101.000"), std::string::npos);
}

TEST(Report, DrawsAllPathsInAllPanels) {
  const std::string script = gnuplot_script(two_lines(), "a \"b\".png");
  EXPECT_NE(script.find("set output \"a \\\"b\\\".png\""), std::string::npos);
  EXPECT_NE(script.find("title \"note\""), std::string::npos);  // measured or stated
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = script.find("\ne\n", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u * 3);
  const std::size_t times = script.find("8 1.8\n1000 101\ne\n");
  EXPECT_LT(times, script.find("8 4.44"));  // MB/s
  EXPECT_LT(script.find("8 4.44"), script.find("8 0\n1000 0\ne\n"));
  EXPECT_LT(script.find("8 0\n1000 0\ne\n"), std::string::npos);  // a host thread's part
}

}  // namespace
}  // namespace chime::predict
