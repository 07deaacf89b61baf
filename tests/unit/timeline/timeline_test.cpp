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
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "chime/abi/operation.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/trace/noting.hpp"
#include "host/errors/error.hpp"
#include "host/trace/executor.hpp"
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
  EXPECT_NE(merge(path_).find("; " + std::to_string(kEvents - kept) + " more had no room"),
            std::string::npos);
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

// ---- What the executor says
// ----------------------------------------------------------------------

TEST_F(TimelineTest, AnOperationHasItsPlaceAndItsWord) {
  begin_recording(part(0, 4));
  std::vector<std::byte> heap(256);
  const simt::TracingPe me{3, heap.data(), heap.size()};
  const auto begin = [&](const std::byte* address, const simt::ThreadPlace& where) {
    return static_cast<Event*>(
        kExecutorsRecorder.begin_work(me, {Operation::kPutSignal, 2, address, 40, 7, 1}, where));
  };
  const Event& event = *begin(heap.data() + 16, {.launch = 5, .block = 6, .thread = 9});
  EXPECT_EQ(event.address, 16u);
  EXPECT_EQ(event.bytes, 40u);
  EXPECT_EQ(event.value, 7u);
  EXPECT_EQ(event.pe, 2);
  EXPECT_EQ(event.my_pe, 3);
  EXPECT_EQ(event.launch, 5u);
  EXPECT_EQ(event.block, 6u);
  EXPECT_EQ(event.thread, 9u);
  EXPECT_EQ(event.how, 1u);
  EXPECT_EQ(begin(heap.data() + 255, {})->address, 255u);
  EXPECT_EQ(begin(heap.data() + 256, {})->address, kNotInHeap);
  EXPECT_EQ(begin(heap.data() - 1, {})->address, kNotInHeap);
  EXPECT_EQ(begin(nullptr, {})->address, kNotInHeap);
}

TEST_F(TimelineTest, ALaunchHasItsBlocksAndThreads) {
  PartFile& file = part(0, 4);
  begin_recording(file);
  const auto* const event = static_cast<Event*>(kExecutorsRecorder.begin_launch(
      {.name = "kernel", .pe = 3, .launch = 5, .blocks = 6, .threads = 64}));
  EXPECT_EQ(Part(file.file()).name(event->name), "kernel");
  EXPECT_EQ(event->my_pe, 3);
  EXPECT_EQ(event->launch, 5u);
  EXPECT_EQ(event->bytes, 6u);
  EXPECT_EQ(event->value, 64u);
}

std::vector<simt::ThreadPlace> places;  // one thread of the system's runs the kernel

// Notes an operation by each thread of 2 blocks of 3 threads.
void note_in_a_kernel() { simt::end_traced(simt::begin_noted({}, {})); }

TEST_F(TimelineTest, AKernelsThreadsHaveTheirPlaces) {
  static std::mutex mutex;
  static const simt::Recorder recorder = {
      [](const simt::TracingPe&, const abi::TracedWork&, const simt::ThreadPlace& where) {
        const std::lock_guard lock(mutex);
        places.push_back(where);
        return static_cast<void*>(&places);
      },
      [](const char*) -> void* { return nullptr; },
      [](const simt::LaunchOfKernel&) -> void* { return nullptr; }, [](void*) {},
      [](void*, std::uint64_t) {}};
  simt::set_recorder(&recorder);
  ASSERT_EQ(exec::launch({.grid = exec::dim3(2), .block = exec::dim3(3)}, note_in_a_kernel),
            CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize(nullptr), CHIMEX_OK);
  note_in_a_kernel();  // by the host
  simt::set_recorder(nullptr);
  ASSERT_EQ(places.size(), 7u);
  EXPECT_EQ(places.back().launch, 0u);
  places.pop_back();
  std::set<std::pair<std::uint64_t, unsigned>> found;
  for (const simt::ThreadPlace& place : places) {
    EXPECT_EQ(place.launch, places.front().launch);
    EXPECT_NE(place.launch, 0u);
    found.emplace(place.block, place.thread);
  }
  EXPECT_EQ(found, (std::set<std::pair<std::uint64_t, unsigned>>{
                       {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
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

TEST_F(TimelineTest, AFullDiskIsSeenAlsoByAShortFile) {
  begin_recording(part(0));
  end_event(begin_work(Operation::kPut));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16, 16};  // less than what is kept until the file is closed
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(message_of([&] { merge(path_); }).find("cannot write") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(has_parts(path_));
}

// What the process holds of `file`: descriptors, and pieces of memory.
std::pair<std::size_t, std::size_t> holds_of(const std::string& file) {
  std::size_t open = 0, mapped = 0;
  for (const fs::directory_entry& one : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    open += fs::read_symlink(one.path(), ignored) == file;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) mapped += line.ends_with(file);
  return {open, mapped};
}

TEST_F(TimelineTest, APartThatIsReadIsGivenBack) {
  const std::string file = part(0).file();
  const auto writers = holds_of(file);
  {
    const Part read(file);
    EXPECT_EQ(holds_of(file), std::pair(writers.first, writers.second + 1));
  }
  EXPECT_EQ(holds_of(file), writers);
}

// A broken part would keep those of the other PEs from being merged.
TEST_F(TimelineTest, APartThatCannotBeMadeLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const std::string file = part_of(path_, 0);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string words = message_of([&] { part(0); });
    const bool is_clean =
        !fs::exists(file) && holds_of(file) == std::pair<std::size_t, std::size_t>();
    _exit(words.find("lower CHIME_TRACE_EVENTS") == std::string::npos ? 1 : is_clean ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A process of the earlier job may still write to it.
TEST_F(TimelineTest, APartOfAnEarlierJobIsReplaced) {
  PartFile& earlier = part(0, 1, 1000, "earlier");
  PartFile& latest = part(0, 1, 1000, "latest");
  begin_recording(earlier);
  end_event(begin_work(Operation::kPut));
  end_recording();
  EXPECT_EQ(latest.header().chunks, 0u);
  EXPECT_EQ(Part(part_of(path_, 0)).header().job, hash_of("latest"));
}

TEST_F(TimelineTest, WhatAnEarlierJobHasLeftIsRemoved) {
  std::ofstream(path_) << "earlier";
  remove_earlier(path_);
  EXPECT_FALSE(fs::exists(path_));
  remove_earlier(path_);  // there is none
  std::ofstream(part_of(path_, 3)) << "earlier";
  std::ofstream(folder_of_parts(path_) + "/notes") << "somebody else's";
  remove_parts_of_earlier(path_);
  EXPECT_FALSE(fs::exists(part_of(path_, 3)));
  EXPECT_TRUE(fs::exists(folder_of_parts(path_) + "/notes"));
  std::ofstream(part_of(path_, 4)) << "sent";
  remove_part(part_of(path_, 4), path_);
  EXPECT_FALSE(fs::exists(part_of(path_, 4)));
  EXPECT_TRUE(has_parts(path_));
  fs::remove(folder_of_parts(path_) + "/notes");
  remove_empty_folder(path_);
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
  Event* const b = begin_work(Operation::kGet);
  end_event(b);
  end_recording();
  other.set_offset(-5'000'000'000, 20'000);
  const Parts parts = read_parts(folder_of_parts(path_));
  const std::vector<Span> spans = parts.spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin_ns, b->begin_ns - 5'000'000'000u);  // now it comes first
  EXPECT_EQ(spans[0].end_ns, b->end_ns - 5'000'000'000u);
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

// ---- The file ----------------------------------------------------------------------------------

TEST_F(TimelineTest, TimesAndArrowsAreThereToTheNanosecond) {
  PartFile& file = part(0);
  begin_recording(file);
  const std::uint64_t start = file.header().opened_ns;
  const auto add = [&](Operation operation, std::uint64_t begin, std::uint64_t end) {
    Event& event = *begin_work(operation, [&](Event& one) {
      one.begin_ns = start + begin;
      one.address = 64;
      one.pe = operation == Operation::kPutSignal ? 0 : -1;
      one.bytes = 8;
      one.has_seen = one.seen = operation == Operation::kSignalWaitUntil;
      one.value = 1;
    });
    event.end_ns = start + end;
  };
  add(Operation::kPutSignal, 1'002'003, 1'006'008);
  add(Operation::kSignalWaitUntil, 2'000, 2'003'000);
  merge(path_);
  const std::string text = text_of(path_);
  for (const char* const part :
       {"\"ts\":1002.003,\"dur\":4.005,", "\"ts\":2.000,\"dur\":2001.000,",
        "\"ph\":\"s\",\"name\":\"signal\",\"cat\":\"signal\",\"id\":1,\"pid\":0,\"tid\":2,\"ts\":"
        "1002.003}",
        "\"ph\":\"f\",\"name\":\"signal\",\"cat\":\"signal\",\"id\":1,\"pid\":0,\"tid\":1,\"ts\":"
        "2002.999,\"bp\":\"e\"}",
        // Where the signal came, if the wait began earlier: viewers draw arrows to beginnings.
        "{\"ph\":\"X\",\"name\":\"signal of PE 0\",\"cat\":\"arrival\",\"pid\":0,\"tid\":1,"
        "\"ts\":1006.008,\"dur\":996.992,"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// A viewer adds each track's own number to its name.
TEST_F(TimelineTest, TracksOfOneGroupHaveOneName) {
  begin_recording(part(0));
  for (const std::uint32_t launch : {1u, 2u})
    begin_work(Operation::kPut, [=](Event& event) { event.launch = launch; });
  end_event(begin_work(Operation::kGet));  // the others last at least until it ends
  end_recording();
  merge(path_);
  const std::string text = text_of(path_), name = "\"args\":{\"name\":\"puts\"}";
  const std::size_t first = text.find(name);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(name, first + 1), std::string::npos) << text;
}

TEST_F(TimelineTest, NamesAreWrittenAsJsonReadsThem) {
  begin_recording(part(0));
  static const char name[] = "a \"b\" \\ \n";
  end_event(begin_event(EventKind::kCall, [](Event& event) { event.name = number_of(name); }));
  merge(path_);
  EXPECT_NE(text_of(path_).find("\"name\":\"a \\\"b\\\" \\\\ \\u000a\""), std::string::npos);
}

TEST_F(TimelineTest, RequestsSayWhatTheyAreAndThatTheyHaveFailed) {
  begin_recording(part(0));
  const auto request = [](Event& event) {
    event.bytes = 40;
    event.value = 17;
  };
  begin_event(EventKind::kNicRequest, request)->has_failed = 1;
  begin_event(EventKind::kProxyRequest, request);
  end_recording();
  merge(path_);
  const std::string text = text_of(path_);
  EXPECT_NE(text.find("\"args\":{\"bytes\":40,\"queue_pair\":17,\"failed\":true,\"open\":true}"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"args\":{\"bytes\":40,\"open\":true}"), std::string::npos) << text;
}

// Those of many queues overlap. A track for each that is under way would hide the others.
TEST_F(TimelineTest, RequestsLieOnNoTrackOfAThread) {
  PartFile& file = part(0);
  begin_recording(file);
  const std::uint64_t start = file.header().opened_ns;
  static const char name[] = "RDMA_WRITE";
  begin_event(EventKind::kNicRequest, [&](Event& event) {
    event.begin_ns = start + 1'002'003;
    event.name = number_of(name);
  })->end_ns = start + 1'006'008;
  end_recording();
  merge(path_);
  const std::string text = text_of(path_);
  for (const char* const part :
       {"{\"ph\":\"b\",\"name\":\"NIC RDMA_WRITE\",\"cat\":\"nic\",\"pid\":0,\"tid\":0,"
        "\"ts\":1002.003,\"id2\":{\"local\":\"0\"},\"args\":{",
        "{\"ph\":\"e\",\"name\":\"NIC RDMA_WRITE\",\"cat\":\"nic\",\"pid\":0,\"tid\":0,"
        "\"ts\":1006.008,\"id2\":{\"local\":\"0\"}}",
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("thread_name"), std::string::npos) << text;
}

// PEs 0 and 1 are threads of this process, PEs 2 and 3 of another one. PE 4 has left nothing.
TEST_F(TimelineTest, EachPeIsNamedAfterItsProcessAndTheMissingOnesAreToldApart) {
  const auto record = [&](int first_pe) {
    PartFile& file = part(first_pe, 5);
    file.add_pe();
    begin_recording(file);
    for (const int pe : {first_pe, first_pe + 1})
      end_event(begin_work(Operation::kPut, [=](Event& event) { event.my_pe = pe; }));
    end_recording();
    file.close(false);
  };
  const pid_t child = fork();
  if (child == 0) {
    record(2);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  record(0);
  EXPECT_EQ(merge(path_), path_ + ": 4 events; nothing was found of PE 4");
  const std::string text = text_of(path_);
  for (const int pe : {0, 1, 2, 3}) {
    const std::string process = ", process " + std::to_string(pe < 2 ? getpid() : child) + ")\"";
    const std::size_t at = text.find("\"name\":\"PE " + std::to_string(pe) + " (");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find(process, at), text.find(", process ", at)) << pe;
  }
}

// Threads write apart, so events come in any order.
TEST_F(TimelineTest, EventsAreByTimeAndWhatHoldsOthersComesFirst) {
  PartFile& file = part(0);
  begin_recording(file);
  const std::uint64_t start = file.header().opened_ns;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    begin_work(Operation::kPut, [&](Event& event) { event.begin_ns = start + begin; })->end_ns =
        end != 0 ? start + end : 0;
  };
  for (const auto& [begin, end] : {std::pair{20u, 30u}, {10u, 15u}, {10u, 40u}, {12u, 0u}})
    add(begin, end);
  end_recording();
  file.close(false);
  const Parts parts = read_parts(folder_of_parts(path_));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const Span& span : parts.spans()) {
    found.emplace_back(span.begin_ns - start, span.end_ns - start);
    EXPECT_EQ(span.is_open, span.begin_ns == start + 12);
  }
  // What has not ended lasts as long as the recording.
  const std::uint64_t closed = file.header().closed_ns - start;
  EXPECT_EQ(found, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                       {10, 40}, {10, 15}, {12, closed}, {20, 30}}));
}

std::vector<std::uint64_t> ends_of(const std::vector<Span>& spans) {
  std::vector<std::uint64_t> ends;
  for (const Span& span : spans) ends.push_back(span.end_ns);
  return ends;
}

TEST_F(TimelineTest, WhatHasNotEndedLastsAsLongAsItsProcess) {
  begin_recording(part(0, 2));
  begin_work(Operation::kSignalWaitUntil);
  PartFile& other = part(1, 2);
  begin_recording(other);
  begin_event(EventKind::kCall, [](Event&) {});
  begin_work(Operation::kPutNbi);
  end_recording();
  other.close(false);
  const std::uint64_t closed = other.header().closed_ns, killed = closed + 1000, left = closed + 50;
  const Parts parts = read_parts(folder_of_parts(path_));
  EXPECT_EQ(ends_of(parts.spans({{0, killed}, {1, left}})), (std::vector{killed, left, closed}));
  EXPECT_EQ(ends_of(parts.spans({{0, 1}, {1, 1}}))[1], closed) << "known to have lived longer";
  // What is known of the others.
  EXPECT_EQ(ends_of(parts.spans()), (std::vector{closed, closed, closed}));
}

TEST_F(TimelineTest, AnEndIsOfTheClockOfItsObserver) {
  PartFile& first = part(0, 3);
  first.close(false);
  const std::uint64_t clock = 1, ahead = 5'000'000'000, end = now_ns() + 2 * ahead;
  for (const int pe : {1, 2}) {
    PartFile& other = part(pe, 3);
    if (pe == 1) other.set_offset(-5'000'000'000, 20'000);
    std::fstream(other.file(), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(offsetof(PartHeader, clock))
        .write(reinterpret_cast<const char*>(&clock), sizeof clock);
    begin_recording(other);
    begin_work(Operation::kSignalWaitUntil)->begin_ns += ahead;
    end_recording();
  }
  const Parts parts = read_parts(folder_of_parts(path_));
  const std::vector<Span> spans = parts.spans({{1, end}, {2, end}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].end_ns, end);
  EXPECT_EQ(spans[1].end_ns, spans[1].begin_ns) << "its clock was not compared";
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
  std::size_t size() const { return spans_.size(); }
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

TEST(Tracks, WhatTwoThreadsDoLiesOnTwo) {
  for (const bool is_one : {true, false}) {
    Spans all;
    Event outer = work(Operation::kPut, 0), inner = outer;
    outer.launch = inner.launch = 1;
    inner.thread = is_one ? 0 : 7;
    all.add(0, 100, outer);
    all.add(10, 20, inner);
    EXPECT_EQ(make_tracks(all.by_time()).all.size(), is_one ? 1u : 2u);
  }
  Spans requests;
  Event request = work(Operation::kPut, 0);
  request.kind = EventKind::kNicRequest;  // which no thread keeps
  requests.add(0, 100, request);
  const Tracks none = make_tracks(requests.by_time());
  EXPECT_EQ(none.all.size(), 0u);
  EXPECT_EQ(none.of_spans, std::vector{kNoTrack});
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

TEST(Arrows, OfSeveralOfOneValueItIsTheLast) {
  Spans all;
  for (const std::uint64_t value : {1, 2, 1, 2})
    all.add(10 * value + all.size() * 100, 500,
            update(Operation::kPutSignal, 0, 1, 64, value, kSet));
  all.add(5, 1000, wait_for(1, 64, 1, 1));
  EXPECT_EQ(cause_in(all), 210u);
}

TEST(Arrows, EachOperationSetsOrAddsAsItDoes) {
  for (const Operation operation :
       {Operation::kP, Operation::kAtomicSet, Operation::kAtomicSwap, Operation::kAtomicAdd,
        Operation::kAtomicInc, Operation::kAtomicFetchAdd, Operation::kAtomicFetchInc}) {
    const bool sets = operation == Operation::kP || operation == Operation::kAtomicSet ||
                      operation == Operation::kAtomicSwap;
    Spans all;
    for (std::uint64_t i = 1; i <= 4; ++i)
      all.add(10 * i, 90, update(operation, 0, 1, 64, sets ? i : 1));
    all.add(5, 100, wait_for(1, 64, 2, 2));
    EXPECT_EQ(cause_in(all), 20u) << static_cast<int>(operation);
  }
}

TEST(Arrows, APOfMoreThanAWordIsNoUpdate) {
  Spans all;
  Event wide = update(Operation::kP, 0, 1, 64, 7);
  wide.bytes = 16;
  all.add(10, 20, wide);
  all.add(5, 100, wait_for(1, 64, 7, 7));
  EXPECT_EQ(cause_in(all), std::nullopt);
}

TEST(Arrows, AnUpdateThatBeganAfterTheWaitEndedIsNotItsCause) {
  Spans all;
  all.add(10, 20, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(200, 210, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 7, 7));
  EXPECT_EQ(cause_in(all), 10u);
}

TEST(Arrows, AnUpdateThatBeganAsTheWaitEndedIsNotItsCause) {
  Spans all;
  all.add(100, 120, update(Operation::kPutSignal, 0, 1, 64, 7, kSet));
  all.add(5, 100, wait_for(1, 64, 7, 7));
  EXPECT_EQ(cause_in(all), std::nullopt);
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
