// What a process records, and how the parts of several are merged: facts that need no job.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "chime/abi/operation.h"
#include "host/errors/error.hpp"
#include "host/trace/merge/arrows.hpp"
#include "host/trace/merge/lanes.hpp"
#include "host/trace/merge/merge.hpp"
#include "host/trace/merge/parts.hpp"
#include "host/trace/paths.hpp"
#include "host/trace/recorder.hpp"

namespace chime::trace {
namespace {

namespace fs = std::filesystem;

class TimelineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "timeline.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/run.json";
    prepare(path_);
  }
  void TearDown() override {
    end_recording();
    fs::remove_all(folder_);
  }

  // A part of PE `pe`, which lives as long as the program.
  PartFile& part(int pe, int n_pes = 1, std::uint64_t events = 1000, const char* job = "job") {
    static auto& all = *new std::vector<PartFile*>;
    all.push_back(
        new PartFile(part_of(path_, pe), {.n_pes = n_pes, .first_pe = pe, .job = job}, events));
    return *all.back();
  }

  std::string folder_, path_;
};

Event* begin_work(Operation operation, const std::function<void(Event&)>& fill = {}) {
  return begin_event(EventKind::kWork, [&](Event& event) {
    event.operation = static_cast<std::uint16_t>(operation);
    event.address = kNotInHeap;
    if (fill) fill(event);
  });
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// ---- Recording ----------------------------------------------------------------------------------

TEST_F(TimelineTest, NothingIsRecordedUntilRecordingBegins) {
  EXPECT_FALSE(is_recording());
  EXPECT_EQ(begin_work(Operation::kPut), nullptr);
  end_event(nullptr);
}

TEST_F(TimelineTest, AnEventHasItsTimes) {
  begin_recording(part(0));
  const std::uint64_t before = now_ns();
  Event* const event = begin_work(Operation::kPut);
  end_event(event);
  EXPECT_LE(before, event->begin_ns);
  EXPECT_LE(event->begin_ns, event->end_ns);
  EXPECT_LE(event->end_ns, now_ns());
}

TEST_F(TimelineTest, AllEventsOfAllThreadsAreThereInTheOrderOfEach) {
  constexpr std::uint64_t kThreads = 8, kEvents = 5000;
  begin_recording(part(0, 1, 2 * kThreads * kEvents));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (std::uint64_t i = 0; i < kEvents; ++i)
        end_event(begin_work(Operation::kPut, [&](Event& event) {
          event.block = static_cast<std::uint32_t>(t);
          event.value = i;
        }));
    });
  for (std::thread& thread : threads) thread.join();
  const Parts parts = read_parts(folder_of_parts(path_));
  std::map<std::uint32_t, std::uint64_t> next;
  for (const Span& span : parts.spans()) {
    EXPECT_FALSE(span.is_open);
    EXPECT_EQ(span.event->value, next[span.event->block]++);
  }
  EXPECT_EQ(next.size(), kThreads);
  for (const auto& [thread, count] : next) EXPECT_EQ(count, kEvents);
  EXPECT_EQ(parts.all.front()->header().dropped, 0u);
}

TEST_F(TimelineTest, EventsWithoutRoomAreCounted) {
  constexpr std::uint64_t kEvents = 10'000;
  begin_recording(part(0, 1, 500));
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < kEvents; ++i) kept += begin_work(Operation::kPut) != nullptr;
  EXPECT_GE(kept, 500u);
  EXPECT_LT(kept, 500u + kChunkEvents);
  const Parts parts = read_parts(folder_of_parts(path_));
  EXPECT_EQ(parts.spans().size(), kept);
  EXPECT_EQ(parts.all.front()->header().dropped, kEvents - kept);
}

TEST_F(TimelineTest, NamesAreKeptOnceAndTheLastOnesAreMissed) {
  PartFile& file = part(0);
  static const char first[] = "first", second[] = "second";
  const std::uint32_t a = file.number_of(first), b = file.number_of(second);
  EXPECT_EQ(file.number_of(first), a);
  EXPECT_NE(a, b);
  static const std::vector<std::string> many(6000, std::string(30, 'n'));
  std::uint32_t last = 1;
  for (const std::string& name : many) last = file.number_of(name.c_str());
  EXPECT_EQ(last, 0u);
  const Part read(file.file());
  EXPECT_EQ(read.name(a), "first");
  EXPECT_EQ(read.name(b), "second");
  EXPECT_EQ(read.name(last), "(a name that was not kept)");
}

TEST_F(TimelineTest, AKilledProcessLeavesWhatItRecorded) {
  const pid_t child = fork();
  if (child == 0) {
    begin_recording(part(0));
    end_event(begin_work(Operation::kPut));
    begin_work(Operation::kQuiet);
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NE(merge(path_).find("2 events; recorded until they were killed: PE 0"),
            std::string::npos);
  const std::string text = text_of(path_);
  EXPECT_NE(text.find("\"name\":\"chime_quiet\""), std::string::npos);
  EXPECT_NE(text.find("\"open\":true"), std::string::npos);
}

TEST_F(TimelineTest, AChildOfForkRecordsNothing) {
  begin_recording(part(0));
  const pid_t child = fork();
  if (child == 0) _exit(begin_work(Operation::kPut) == nullptr ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(begin_work(Operation::kPut), nullptr);
}

// ---- Files --------------------------------------------------------------------------------------

TEST_F(TimelineTest, ADiskWithoutRoomDropsEventsAndEndsNoProcess) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    PartFile& file = part(0, 1, 100'000);
    // The file has its size already: what takes room behind the limit is refused as by a full disk.
    const rlimit limit{part_bytes(1), part_bytes(1)};
    setrlimit(RLIMIT_FSIZE, &limit);
    begin_recording(file);
    int kept = 0;
    for (int i = 0; i < 1000; ++i) kept += begin_work(Operation::kPut) != nullptr;
    _exit(file.header().dropped + static_cast<unsigned>(kept) == 1000 && kept > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(TimelineTest, AMergeThatFailsLeavesThePartsAndNoFile) {
  begin_recording(part(0));
  for (int i = 0; i < 500; ++i) end_event(begin_work(Operation::kPut));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(message_of([&] { merge(path_); }).find("cannot write") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_NE(merge(path_).find("500 events"), std::string::npos);
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(folder_of_parts(path_)));
}

TEST_F(TimelineTest, PartsOfEarlierJobsAreLeftOut) {
  begin_recording(part(5, 6, 1000, "earlier"));
  end_event(begin_work(Operation::kPut));
  PartFile& latest = part(0, 1, 1000, "latest");
  begin_recording(latest);
  end_event(begin_work(Operation::kGet));
  end_recording();
  latest.close(false);
  EXPECT_TRUE(parts_are_complete(path_));
  const std::string words = merge(path_);
  EXPECT_EQ(words, path_ + ": 1 events");
  EXPECT_FALSE(has_parts(path_));
}

TEST_F(TimelineTest, PartsAreCompleteWhenAllPesHaveEnded) {
  PartFile& first = part(0, 3);
  first.add_pe();
  first.close(false);
  EXPECT_FALSE(parts_are_complete(path_));  // the third PE
  PartFile& other = part(2, 3);
  EXPECT_FALSE(parts_are_complete(path_));
  other.close(true);
  EXPECT_TRUE(parts_are_complete(path_));
}

TEST_F(TimelineTest, ABrokenPartIsNamed) {
  const std::string file = part_of(path_, 0);
  std::ofstream(file) << "short";
  EXPECT_NE(message_of([&] { merge(path_); }).find("is no part of a timeline: it has 5 bytes"),
            std::string::npos);
  std::ofstream(file) << std::string(part_bytes(1), 'x');
  EXPECT_NE(message_of([&] { merge(path_); }).find("it does not begin as one"), std::string::npos);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(TimelineTest, APathThatCannotBeWrittenSaysWhatToDo) {
  const auto message = [&](const std::string& path) { return message_of([&] { prepare(path); }); };
  EXPECT_EQ(message(folder_), "CHIME_TRACE: '" + folder_ + "' is a folder; name a file, such as " +
                                  folder_ + "/run.json");
  EXPECT_EQ(message(folder_ + "/none/run.json"),
            "CHIME_TRACE: '" + folder_ + "/none/run.json' cannot be written: there is no folder " +
                folder_ + "/none; make it, or name another file");
  std::ofstream(folder_ + "/file.json.parts") << "in the way";
  EXPECT_NE(message(folder_ + "/file.json").find("cannot be"), std::string::npos);
}

TEST_F(TimelineTest, LaterTimelinesOfAProcessHaveNumbers) {
  EXPECT_EQ(numbered("/a/run.json", 1), "/a/run.json");
  EXPECT_EQ(numbered("/a/run.json", 2), "/a/run.2.json");
  EXPECT_EQ(numbered("/a/run", 3), "/a/run.3");
  EXPECT_EQ(numbered("run.json", 1), fs::current_path() / "run.json");
}

TEST_F(TimelineTest, AnotherClockIsSetToPe0s) {
  PartFile& first = part(0, 2);
  begin_recording(first);
  const Event* const a = begin_work(Operation::kPut);
  PartFile& other = part(1, 2);
  begin_recording(other);
  const Event* const b = begin_work(Operation::kGet);
  end_recording();
  other.set_offset(-5'000'000'000, 20'000);
  const Parts parts = read_parts(folder_of_parts(path_));
  const std::vector<Span> spans = parts.spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin_ns, b->begin_ns - 5'000'000'000u);  // now it comes first
  EXPECT_EQ(spans[1].begin_ns, a->begin_ns);
}

TEST_F(TimelineTest, AClockThatDriftsIsSetByBothComparisons) {
  part(0, 2);
  PartFile& other = part(1, 2);
  begin_recording(other);
  const auto compare = [&](std::int64_t offset_ns, std::uint64_t doubt_ns) {
    other.set_offset(offset_ns, doubt_ns);
    return other.header().last.at_ns;
  };
  const std::uint64_t from = compare(1'000'000, 30);
  while (now_ns() < from + 3000) continue;
  const std::uint64_t to = compare(1'000'300, 10);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> times_and_offsets = {
      {from - 1000, 1'000'000},
      {from, 1'000'000},
      {from + (to - from) / 3, 1'000'100},
      {to - 1, 1'000'300},
      {to + 500, 1'000'300}};
  for (const auto& [time, offset] : times_and_offsets) {
    Event* const event = begin_work(Operation::kPut);
    event->begin_ns = event->end_ns = time;
  }
  end_recording();
  const Parts parts = read_parts(folder_of_parts(path_));
  const std::vector<Span> spans = parts.spans();
  ASSERT_EQ(spans.size(), times_and_offsets.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto& [time, offset] = times_and_offsets[i];
    EXPECT_NEAR(static_cast<double>(spans[i].begin_ns - time), static_cast<double>(offset), 1) << i;
    EXPECT_EQ(spans[i].begin_ns, spans[i].end_ns) << i;
  }
  merge(path_);
  EXPECT_NE(text_of(path_).find("\"offset_ns\":1000300,\"drift_ns\":300,\"doubt_ns\":30,"),
            std::string::npos);
}

// ---- Tracks -------------------------------------------------------------------------------------

// Spans without a file, for functions of them.
class Spans {
 public:
  Span& add(std::uint64_t begin, std::uint64_t end, const Event& event) {
    events_.push_back(event);
    spans_.push_back({begin, end, &events_.back(), nullptr, 1, false});
    return spans_.back();
  }
  std::vector<Span> by_time() const {
    std::vector<Span> sorted(spans_.begin(), spans_.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const Span& a, const Span& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    return sorted;
  }

 private:
  std::deque<Event> events_;
  std::deque<Span> spans_;
};

Event work(Operation operation, int my_pe, int pe = -1) {
  Event event{};
  event.kind = EventKind::kWork;
  event.operation = static_cast<std::uint16_t>(operation);
  event.address = kNotInHeap;
  event.my_pe = my_pe;
  event.pe = pe;
  return event;
}

TEST(Tracks, EventsNestOrFollowOnEachTrackWhateverTheThreadsDo) {
  std::mt19937 random(20'26);
  for (int round = 0; round < 200; ++round) {
    Spans all;
    for (int i = 0; i < 60; ++i) {
      Event event = work(random() % 2 ? Operation::kPut : Operation::kSignalWaitUntil,
                         static_cast<int>(random() % 2));
      event.launch = 1;
      event.block = random() % 4;
      const std::uint64_t begin = random() % 100;
      all.add(begin, begin + random() % 30, event);
    }
    const std::vector<Span> spans = all.by_time();
    const Tracks tracks = make_tracks(spans);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Track& track = tracks.all[tracks.of_spans[i]];
      EXPECT_EQ(track.pe, spans[i].event->my_pe);
      EXPECT_EQ(track.group, group_of(*spans[i].event));
      for (std::size_t k = i + 1; k < spans.size(); ++k) {
        if (tracks.of_spans[i] != tracks.of_spans[k]) continue;
        const bool follows = spans[k].begin_ns >= spans[i].end_ns;
        const bool nests = spans[k].end_ns <= spans[i].end_ns;
        EXPECT_TRUE(follows || nests) << "round " << round;
      }
    }
  }
}

TEST(Tracks, EventsThatFollowShareOneTrack) {
  Spans all;
  for (std::uint64_t i = 0; i < 10; ++i) all.add(10 * i, 10 * i + 10, work(Operation::kPut, 0));
  EXPECT_EQ(make_tracks(all.by_time()).all.size(), 1u);
}

// ---- Arrows -------------------------------------------------------------------------------------

Event update(Operation operation, int from, int to, std::uint64_t word, std::uint64_t value,
             int how = 0) {
  Event event = work(operation, from, to);
  event.address = word;
  event.value = value;
  event.bytes = 8;
  event.how = static_cast<std::uint8_t>(how);
  return event;
}

Event wait_for(int pe, std::uint64_t word, std::uint64_t value, std::optional<std::uint64_t> seen) {
  Event event = work(Operation::kSignalWaitUntil, pe);
  event.address = word;
  event.value = value;
  event.bytes = 8;
  event.has_seen = seen.has_value();
  event.seen = seen.value_or(0);
  return event;
}

// The beginning of the operation that the arrow to the only wait comes from; none: no arrow.
std::optional<std::uint64_t> cause_in(const Spans& all) {
  const std::vector<Span> spans = all.by_time();
  const std::vector<Arrow> arrows = find_arrows(spans);
  if (arrows.empty()) return std::nullopt;
  EXPECT_EQ(arrows.size(), 1u);
  EXPECT_EQ(group_of(*spans[arrows[0].to].event), Group::kWait);
  EXPECT_LE(spans[arrows[0].from].begin_ns, spans[arrows[0].to].end_ns);
  return spans[arrows[0].from].begin_ns;
}

constexpr int kSet = 0, kAdd = 1;

TEST(Arrows, ASetIsFoundByTheValueThatTheWaitSaw) {
  Spans all;
  for (std::uint64_t value = 1; value <= 5; ++value)
    all.add(value * 10, value * 10 + 1, update(Operation::kPutSignal, 0, 1, 64, value, kSet));
  all.add(5, 100, wait_for(1, 64, 3, 3));
  EXPECT_EQ(cause_in(all), 30u);
}

TEST(Arrows, OfAdditionsItIsTheOneThatReachesTheValue) {
  Spans all;
  for (std::uint64_t i = 1; i <= 5; ++i)
    all.add(i * 10, i * 10 + 1, update(Operation::kSignalOp, static_cast<int>(i), 0, 64, 2, kAdd));
  all.add(1, 100, wait_for(0, 64, 5, 6));
  EXPECT_EQ(cause_in(all), 30u);
}

TEST(Arrows, AnUpdateThatBeganAfterTheWaitEndedIsNotItsCause) {
  Spans all;
  all.add(10, 20, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(200, 210, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 7, 7));
  EXPECT_EQ(cause_in(all), 10u);
}

TEST(Arrows, OtherWordsAndOtherPesAreNotTheCause) {
  Spans all;
  all.add(10, 20, update(Operation::kPutSignal, 0, 1, 72, 7, kSet));
  all.add(10, 20, update(Operation::kPutSignal, 0, 2, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 7, 7));
  EXPECT_EQ(cause_in(all), std::nullopt);
}

TEST(Arrows, AWaitThatTimedOutHasNone) {
  Spans all;
  all.add(10, 20, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 8, std::nullopt));
  EXPECT_EQ(cause_in(all), std::nullopt);
}

TEST(Arrows, AWaitThatHasNotEndedHasNone) {
  Spans all;
  all.add(10, 20, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 7, 7)).is_open = true;
  EXPECT_EQ(cause_in(all), std::nullopt);
}

TEST(Arrows, AWaitForSomeWordsHasTheLastUpdateOfOne) {
  Spans all;
  all.add(10, 20, update(Operation::kAtomicAdd, 0, 1, 64, 1));
  all.add(30, 40, update(Operation::kP, 2, 1, 72, 1));
  all.add(50, 60, update(Operation::kP, 2, 1, 80, 1));
  Event wait = wait_for(1, 64, 1, std::nullopt);
  wait.operation = static_cast<std::uint16_t>(Operation::kWaitUntilAny);
  wait.bytes = 16;
  all.add(5, 100, wait);
  EXPECT_EQ(cause_in(all), 30u);
}

TEST(Arrows, ANarrowWordIsComparedInItsBits) {
  Spans all;
  all.add(10, 20, update(Operation::kP, 0, 1, 64, 0xffff'ffff));  // -1 as 4 bytes
  all.add(30, 40, update(Operation::kP, 0, 1, 64, 5));
  Event wait = wait_for(1, 64, ~std::uint64_t{0}, ~std::uint64_t{0});
  wait.bytes = 4;
  all.add(5, 100, wait);
  EXPECT_EQ(cause_in(all), 10u);
}

}  // namespace
}  // namespace chime::trace
